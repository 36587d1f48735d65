import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTerminal
import BridgeTransport
import BridgeWaiting

/// The ssh-agent of this machine for what runs in a session (`-A`, ForwardAgent), over each link
/// once more.
///
/// What starts may ask at once: on a host that has `bridge-host` the socket is there before. A
/// server that allows one channel shall have it for the session, not for the agent: that makes way,
/// and comes when the session is attached.
final class SessionAgent: Sendable {
  private struct Carrying {
    let number: Int
    let task: Task<Void, Never>
    /// Which link it is over.
    let generation: Int
    /// Whether it was begun before the session was attached over its link.
    var isEarly: Bool
  }

  private struct State {
    var newest = 0
    /// Nil where no channel is open or being opened.
    var carrying: Carrying?
    /// Whether it was said why the host's programs reach no agent.
    var isSaid = false
    /// Whether the server has a channel for the session only.
    var isCrowded = false
  }

  private typealias Link = (link: SSHConnection, generation: Int)

  let token: Identifier
  private let context: RunContext
  private let links: SessionLinks<SSHConnection>
  private let path: String
  private let state = Mutex(State())

  /// Nil where none is forwarded. `token` names it on the host.
  init?(_ context: RunContext, _ links: SessionLinks<SSHConnection>, token: Identifier) {
    guard let path = context.settings.forwardedAgent else { return nil }
    (self.context, self.links, self.path, self.token) = (context, links, path, token)
  }

  /// An agent may ask its owner, and wait for a touch.
  private static let limit = Duration.seconds(300)

  /// Waits until programs of the host can ask, or that does not come in time.
  func prepare() async {
    guard let newest = try? await links.link(after: 0) else { return }
    let isReady = Promise<Void>()
    start(over: newest, isEarly: true) { isReady.fulfill(()) }
    let clock = context.clock
    let limit = Task(executorPreference: context.reactor) {
      try? await clock.sleep(for: Self.startLimit)
      isReady.fulfill(())
    }
    await isReady.value()
    limit.cancel()
  }

  private static let startLimit = Duration.seconds(5)

  /// The session is attached over a link: one channel over each. A second one in its place, opened
  /// while the first is closed, is more than some servers take (Dropbear).
  func attached() async {
    guard let newest = try? await links.link(after: 0) else { return }
    let isThere = state.withLock { state in
      guard state.carrying?.generation == newest.generation else { return false }
      state.carrying?.isEarly = false
      return true
    }
    if !isThere { start(over: newest, isEarly: false) {} }
  }

  /// Gives up a channel that was opened before the session's; false where there is none.
  func makeWay() async -> Bool {
    guard let early = state.withLock({ $0.carrying }), early.isEarly else { return false }
    early.task.cancel()
    await early.task.value
    return true
  }

  /// The session is over.
  func end() { state.withLock { $0.carrying }?.task.cancel() }

  /// Carries over a link in place of the one before. `isOver` is called when programs of the host
  /// can ask, or will not.
  private func start(over link: Link, isEarly: Bool, _ isOver: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isCrowded else { return isOver() }
      state.carrying?.task.cancel()
      state.newest += 1
      let number = state.newest
      let task = Task(executorPreference: context.reactor) {
        await self.carry(over: link.link, isOver)
        self.state.withLock { state in
          if state.carrying?.number == number { state.carrying = nil }
        }
        isOver()
      }
      state.carrying = Carrying(
        number: number, task: task, generation: link.generation, isEarly: isEarly)
    }
  }

  /// Carries until the link has ended, or another one is in its place; a channel that ends on a
  /// link that stays is opened again.
  private func carry(over link: SSHConnection, _ isReady: @escaping @Sendable () -> Void) async {
    let path = path
    let forwarder = AgentForwarder(
      token: token,
      open: { [links] (command) throws(AppError) in
        guard let channel = try await links.open(command, on: link) else { throw .cancelled }
        return channel
      }, connect: { AgentLine(path: path, timeout: Self.limit) })
    do throws(AgentForwarder.Problem) {
      repeat {
        try await forwarder.carry(isReady: isReady)
        guard (try? await context.clock.sleep(for: Self.pause)) != nil else { return }
      } while await link.lastFailure == nil
    } catch {
      say(error)
    }
  }

  /// Before it is opened again: the end of the link is known by then.
  private static let pause = Duration.seconds(1)

  /// The server took the session's channel only after this one had made way.
  func stayAway(because error: AppError) {
    state.withLock { $0.isCrowded = true }
    say(.refused(error))
  }

  private func say(_ problem: AgentForwarder.Problem) {
    let isNews = state.withLock { state in
      defer { state.isSaid = true }
      return !state.isSaid
    }
    guard isNews else { return }
    context.reporter.warn(
      "programs in the session do not reach the ssh-agent here: \(words(for: problem))")
  }

  private func words(for problem: AgentForwarder.Problem) -> String {
    switch problem {
    case .refused:
      "the server opens no channel for it beside the session's (as with MaxSessions 1)."
    case .tooOld:
      "bridge-host is older there; `bridgectl install \(context.shownHost)` replaces it."
    case .host(let text): text
    }
  }
}

extension AgentLine: AgentConversation {}

/// The channels of a connection, on which an agent that came first makes way.
struct ChannelsBesideAgent: ByteChannelSource {
  let connection: SSHConnection
  let agent: SessionAgent?

  func channel(running command: String) async throws(AppError) -> any ByteChannel {
    do throws(AppError) {
      return try await connection.channel(running: command)
    } catch {
      guard let agent, await agent.makeWay() else { throw error }
      let channel = try await connection.channel(running: command)
      agent.stayAway(because: error)
      return channel
    }
  }
}

extension RunContext {
  /// Says that what runs now gets no agent, where one was to be forwarded. As with every keyword
  /// without effect, the machine's own file does not ask for a warning.
  func warnOfMissingAgent() {
    guard settings.forwardedAgent != nil else { return }
    let entry = settings.entries.first { $0.keyword == "ForwardAgent" }
    if case .file(let path, _)? = entry?.location, path.hasPrefix("/etc/") { return }
    reporter.warn(
      "the ssh-agent is not forwarded: that takes a durable session "
        + "(`bridgectl install \(shownHost)`)")
  }
}
