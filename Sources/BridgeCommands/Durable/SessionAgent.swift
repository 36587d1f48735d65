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

  private let context: RunContext
  private let forwarder: AgentForwarder
  private let state = Mutex(State())

  /// Nil where none is forwarded. `token` names it on the host.
  init?(_ context: RunContext, _ links: SessionLinks<SSHConnection>, token: Identifier) {
    guard let path = context.settings.forwardedAgent else { return nil }
    self.context = context
    forwarder = AgentForwarder(
      token: token,
      open: { (command) throws(AppError) in try await links.channel(running: command) },
      connect: { AgentLine(path: path, timeout: Self.limit) })
  }

  var token: Identifier { forwarder.token }

  /// An agent may ask its owner, and wait for a touch.
  private static let limit = Duration.seconds(300)

  /// Waits until programs of the host can ask, or that does not come in time.
  func prepare() async {
    let isReady = Promise<Void>()
    start(isEarly: true) { isReady.fulfill(()) }
    let clock = context.clock
    let limit = Task(executorPreference: context.reactor) {
      try? await clock.sleep(for: Self.startLimit)
      isReady.fulfill(())
    }
    await isReady.value()
    limit.cancel()
  }

  private static let startLimit = Duration.seconds(5)

  /// The session is attached over a link.
  func attached() {
    let isThere = state.withLock { state in
      guard state.carrying?.isEarly == true else { return false }
      state.carrying?.isEarly = false
      return true
    }
    if !isThere { start(isEarly: false) {} }
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

  /// Carries over the newest link in place of the one before. `isOver` is called when programs of
  /// the host can ask, or will not.
  private func start(isEarly: Bool, _ isOver: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isCrowded else { return isOver() }
      state.carrying?.task.cancel()
      state.newest += 1
      let number = state.newest
      let task = Task(executorPreference: context.reactor) {
        await self.carry(isOver)
        self.state.withLock { state in
          if state.carrying?.number == number { state.carrying = nil }
        }
        isOver()
      }
      state.carrying = Carrying(number: number, task: task, isEarly: isEarly)
    }
  }

  /// Carries until it is replaced; a channel that ends on a link that stays is opened again.
  private func carry(_ isReady: @escaping @Sendable () -> Void) async {
    do throws(AgentForwarder.Problem) {
      repeat {
        try await forwarder.carry(isReady: isReady)
      } while (try? await context.clock.sleep(for: Self.pause)) != nil
    } catch {
      say(error)
    }
  }

  /// Before it is opened again: the end of a link is known by then.
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
      "the server opens no channel for it beside the session's (MaxSessions)."
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
