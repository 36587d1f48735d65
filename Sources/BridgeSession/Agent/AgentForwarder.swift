package import BridgeErrors
package import BridgeSessionProtocol
package import BridgeTransport
import BridgeWaiting

/// One program's conversation with the agent of this machine.
package protocol AgentConversation: Sendable {
  /// The answer to a request, both without their lengths in front; nil where the agent gives none.
  func ask(_ request: [UInt8]) async -> [UInt8]?
}

/// The agent of this machine, for the programs of a session on a host: a channel beside the
/// session's carries what they ask (ssh_config(5), ForwardAgent).
package struct AgentForwarder: Sendable {
  /// Why a host's programs do not reach the agent.
  package enum Problem: Error, Sendable, Equatable {
    /// The server opens no other channel beside the session's.
    case refused(AppError)
    /// The host's `bridge-host` knows no agents.
    case tooOld
    /// The host's own words.
    case host(String)
  }

  /// Names the socket on the host, over all links.
  package let token: Identifier
  private let open: @Sendable (String) async throws(AppError) -> any ByteChannel
  private let connect: @Sendable () -> any AgentConversation

  /// - Parameters:
  ///   - open: a channel that runs a command on the host of the session.
  ///   - connect: begins a conversation; one for each program there.
  package init(
    token: Identifier,
    open: @escaping @Sendable (String) async throws(AppError) -> any ByteChannel,
    connect: @escaping @Sendable () -> any AgentConversation
  ) {
    self.token = token
    self.open = open
    self.connect = connect
  }

  /// Carries requests and answers until the channel ends, or the task is canceled.
  ///
  /// - Parameter isReady: called when programs there can ask.
  /// - Throws: why the host's programs reach no agent; nothing where a channel has ended that
  ///   carried.
  package func carry(isReady: @escaping @Sendable () -> Void) async throws(Problem) {
    let command = HostCommand(.agent(token), program: nil)
    let channel: any ByteChannel
    do throws(AppError) {
      channel = try await open(command.text)
    } catch {
      guard !Task.isCancelled, error != .cancelled else { return }
      throw .refused(error)
    }
    let programs = AgentPrograms(connect)
    let result = await withTaskGroup(of: Problem?.self) { group in
      group.addTask { await read(channel, marker: command.marker, programs, isReady) }
      group.addTask {
        await programs.write(to: channel)
        return nil
      }
      let first = await group.next() ?? nil
      programs.end()
      await channel.close()
      group.cancelAll()
      return first
    }
    if let result, !Task.isCancelled { throw result }
  }

  private func read(
    _ channel: any ByteChannel, marker: String, _ programs: AgentPrograms,
    _ isReady: @Sendable () -> Void
  ) async -> Problem? {
    var marked = MarkedBytes(marker: marker)
    var requests = AgentParser.messages
    while let bytes = try? await channel.read() {
      let hadBegun = marked.hasBegun
      guard let rest = marked.take(bytes) else { return .tooOld }
      if marked.hasBegun, !hadBegun { isReady() }
      requests.append(rest)
      if let problem = programs.takeAll(&requests) { return problem }
    }
    guard !marked.hasBegun else { return nil }
    // A link that was lost says nothing of the host.
    if case .finished = await channel.ending() { return .tooOld }
    return nil
  }
}

/// The programs of the host that ask the agent, and the answers for them.
private final class AgentPrograms: Sendable {
  private struct Program {
    let conversation: any AgentConversation
    var isAsking = false
  }

  private let connect: @Sendable () -> any AgentConversation
  private let programs = Mutex([UInt32: Program]())
  private let answers: AsyncStream<AgentMessage>
  private let answer: AsyncStream<AgentMessage>.Continuation

  init(_ connect: @escaping @Sendable () -> any AgentConversation) {
    self.connect = connect
    // More than a host that waits for its answers can ask for.
    (answers, answer) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingOldest(2 * AgentMessage.connections))
  }

  /// Passes on what has come; returns what is wrong with the host, where something is.
  func takeAll(_ requests: inout AgentParser) -> AgentForwarder.Problem? {
    do throws(AgentParser.Violation) {
      while let request = try requests.next() {
        if let problem = take(request) { return problem }
      }
      return nil
    } catch {
      return .host("it sent a request of \(error.length) bytes")
    }
  }

  private func take(_ request: AgentMessage) -> AgentForwarder.Problem? {
    let number = request.connection
    guard number != 0 else {
      return .host(PeerText.escaped(String(decoding: request.body, as: UTF8.self)))
    }
    guard !request.body.isEmpty else {
      programs.withLock { $0[number] = nil }
      return nil
    }
    guard AgentFilter.passes(request.body) else {
      answer.yield(AgentMessage(number, AgentMessage.failure))
      return nil
    }
    let conversation = programs.withLock { programs -> (any AgentConversation)? in
      var program = programs[number] ?? Program(conversation: connect())
      guard !program.isAsking, programs.count < 2 * AgentMessage.connections else { return nil }
      program.isAsking = true
      programs[number] = program
      return program.conversation
    }
    guard let conversation else { return .host("it asks before it has its answer") }
    Task(executorPreference: nil) { [programs = self.programs, answer] in
      let reply = await conversation.ask(request.body) ?? AgentMessage.failure
      let isWanted = programs.withLock { programs in
        programs[number]?.isAsking = false
        return programs[number] != nil
      }
      if isWanted { answer.yield(AgentMessage(number, reply)) }
    }
    return nil
  }

  /// Writes the answers in the order in which they come, until the end.
  func write(to channel: any ByteChannel) async {
    for await message in answers {
      guard (try? await channel.write(message.encoded)) != nil else { return }
    }
  }

  func end() {
    programs.withLock { $0 = [:] }
    answer.finish()
  }
}

/// What programs of a host may ask of the agent here.
package enum AgentFilter {
  /// Whether a request is one to list keys, to sign, or to bind the connection to a host. A host
  /// that is not trusted with the agent itself must not add, remove or lock keys: an added one can
  /// be a library that the agent loads (CVE-2023-38408).
  package static func passes(_ request: [UInt8]) -> Bool {
    switch request.first {
    // SSH_AGENTC_REQUEST_IDENTITIES, SSH_AGENTC_SIGN_REQUEST.
    case 11, 13: true
    // SSH_AGENTC_EXTENSION.
    case 27: request.dropFirst().starts(with: binding)
    default: false
    }
  }

  private static let binding = Array(AgentMessage.framed(Array("session-bind@openssh.com".utf8)))
}
