import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import BridgeWaiting

/// The local ports of a run, which lead through its host, and ports of the host that lead here.
struct RunForwards: Sendable {
  private let context: RunContext
  private let forwarder: Forwarder
  private let links: RunLinks<SSHConnection>
  /// Open when each port of the host was asked for once.
  private let isAnswered = Latch()

  /// Nil where nothing is forwarded, and no other run may ask for that.
  init?(_ context: RunContext, over links: RunLinks<SSHConnection>) {
    guard !context.settings.forwards.isEmpty || context.sharing != nil else { return nil }
    (self.context, self.links) = (context, links)
    var limits = Forwarder.Limits()
    limits.keepalive = context.settings.keepalive
    limits.deadAfter = context.settings.deadAfter
    limits.replacesSockets = context.settings.replacesSockets
    limits.remoteTargets = context.settings.remoteTargets
    forwarder = Forwarder(
      through: context.settings.givenHost, limits: limits, on: context.reactor,
      link: { () async throws(AppError) in try await links.untilUp() },
      session: { () async throws(AppError) -> SSHConnection in
        let connection = try await links.anotherConnection()
        do throws(AppError) {
          try await connection.connect()
        } catch {
          await connection.close()
          let isRefused = error.caseName == AppError.sshAuthenticationFailed(method: "").caseName
          throw isRefused && !links.mayAskBeside() ? Self.unasked(context) : error
        }
        return connection
      })
  }

  /// A login that would ask in the middle of a shell.
  private static func unasked(_ context: RunContext) -> AppError {
    .sshConnectionFailed(
      host: PeerText.escaped(context.settings.givenHost),
      reason: """
        Forwards have a login of their own, and it would ask a question in the middle of the \
        shell: use a key, or forward with `connect -N` beside it.
        """)
  }

  /// Opens the local ports before the link is there: what connects meanwhile waits for it.
  ///
  /// - Returns: how the run ends where a port cannot be had and that must not be.
  func start() async -> RunContext.Ending? {
    let reporter = context.reporter
    for rule in context.settings.forwards where rule.side == .local {
      do throws(AppError) {
        let port = try await forwarder.listen(rule)
        reporter.event(.forward(rule, port: port))
        reporter.detail("bridgectl: forwarding \(PeerText.escaped(rule.description))")
      } catch {
        guard context.settings.exitsOnForwardFailure else {
          await forwarder.keepTrying(rule)
          continue
        }
        await forwarder.close()
        return Self.ending(rule, error)
      }
    }
    return nil
  }

  /// As with a port that the machine has none left of: busy.
  private static func ending(_ rule: ForwardRule, _ error: AppError) -> RunContext.Ending {
    let taken = NativeFailure(
      library: .system, code: Int(ErrorNumber.addressInUse),
      socket: .failed(errno: ErrorNumber.addressInUse))
    let context = FailureContext(
      kind: .localResource, phase: .dial, host: PeerText.escaped(rule.description), native: taken)
    return .failure(CommandFailure(error: error, context: context))
  }

  /// Asks for the ports of the host, and again whenever they are lost.
  func askForPorts() async {
    for rule in context.settings.forwards where rule.side == .remote {
      guard context.settings.exitsOnForwardFailure else {
        await forwarder.keepTrying(rule)
        continue
      }
      do throws(AppError) {
        _ = try await forwarder.listen(rule)
      } catch {
        // Of a link that has given up the run ends by itself.
        guard error != .cancelled, (try? await links.untilUp()) != nil
        else { return }
        return context.finish(Self.ending(rule, error))
      }
    }
    context.detachment?.portsAreOpen(context.reporter)
  }

  /// Takes connections as `rule` says too; the port.
  ///
  /// - Throws: as `Forwarder.listen`.
  func add(_ rule: ForwardRule) async throws(AppError) -> Int { try await forwarder.listen(rule) }

  /// Takes no more as `rule` says; false where none were.
  func cancel(_ rule: ForwardRule) async -> Bool { await forwarder.cancel(rule) }

  /// Reports the steps of the forwarded connections and of the ports until `close`.
  func report() async {
    var unavailable: Set<ForwardRule> = []
    var unanswered = remoteRules
    if unanswered.isEmpty { isAnswered.open() }
    for await event in forwarder.events {
      report(event, &unavailable)
      switch event {
      case .listening(let rule, _): unanswered.remove(rule)
      // Where it must not be without a port, only that is an answer.
      case .unavailable(let rule, _, _):
        if !context.settings.exitsOnForwardFailure { unanswered.remove(rule) }
      case .opened, .damaged, .closed, .refused, .missed: continue
      }
      if unanswered.isEmpty { isAnswered.open() }
    }
  }

  private var remoteRules: Set<ForwardRule> {
    Set(context.settings.forwards.filter { $0.side == .remote })
  }

  /// Returns when each port of the host was granted or refused: what runs there may need them. A
  /// session for them that does not come is waited for for a while, or for as long as the run lasts
  /// where it must not be without them.
  func untilAnswered() async {
    guard !context.settings.exitsOnForwardFailure else { return await isAnswered.wait() }
    await withTaskGroup { group in
      group.addTask { await isAnswered.wait() }
      group.addTask { try? await context.clock.sleep(for: Self.answerLimit) }
      await group.next()
      group.cancelAll()
    }
  }

  private static let answerLimit = Duration.seconds(10)

  private func report(_ event: Forwarder.Event, _ unavailable: inout Set<ForwardRule>) {
    let reporter = context.reporter
    reporter.event(.forwarded(event))
    switch event {
    case .opened(let id, let target):
      reporter.detail("bridgectl: forwarding connection \(id) to \(PeerText.escaped(target))")
    case .damaged(let id, let error):
      let reason = Self.reason(error)
      reporter.log("bridgectl: forwarded connection \(id) was ended: \(reason)")
    case .closed(let id, let sent, let received, _):
      let words = "\(Counted.text(sent, "byte")) sent, \(received) received"
      reporter.detail("bridgectl: forwarded connection \(id) ended (\(words))")
    case .refused(let id, let target, let error):
      guard error != .cancelled else { return }
      let way = target.map { " to \(PeerText.escaped($0))" } ?? ""
      let reason = Self.reason(error)
      reporter.log("bridgectl: forwarded connection \(id)\(way) was refused: \(reason)")
    case .listening(let rule, let port):
      let wasUnavailable = unavailable.remove(rule) != nil
      let words = Self.words(of: rule, at: port)
      if reporter.style.isSSH, rule.side == .remote, rule.isForAnyPort {
        let target = if case .fixed(let target) = rule.destination { "\(target)" } else { "socks" }
        return reporter.log(
          "Allocated port \(port) for remote forward to \(PeerText.escaped(target))")
      }
      // Which port the host chose is known from here only.
      let isNews = wasUnavailable || (rule.side == .remote && rule.isForAnyPort)
      if isNews { reporter.log(words) } else { reporter.detail(words) }
    case .unavailable(let rule, let error, let retry):
      let reason = Self.reason(error)
      let isTried = retry > .zero ? "; it is tried again" : ""
      let words = "\(PeerText.escaped(rule.name)) is not forwarded\(isTried): \(reason)"
      if unavailable.insert(rule).inserted {
        reporter.warn(words)
      } else {
        reporter.detail("bridgectl: \(words)")
      }
    case .missed(let count):
      reporter.detail("bridgectl: \(count) events of forwarded connections were missed")
    }
  }

  /// Of the host that is connected to only what it has not done.
  static func reason(_ error: AppError) -> String {
    guard case .sshConnectionFailed(_, let reason) = error else {
      return PeerText.escaped(error.shownMessage())
    }
    return PeerText.escaped(reason)
  }

  private static func words(of rule: ForwardRule, at port: Int) -> String {
    let name = PeerText.escaped(rule.name)
    return rule.side == .remote
      ? "bridgectl: the host takes connections on port \(port) for \(name)"
      : "bridgectl: forwarding \(name)"
  }

  /// What is carried or waits, a line each, with a title.
  func lines() async -> [String] {
    let carried = await forwarder.connections
    return ["Forwarded connections: \(carried.count)"]
      + carried.prefix(256).map { connection in
        let target = connection.target.map { PeerText.escaped($0, limit: 256) } ?? "a target"
        let counts =
          "\(Counted.text(connection.sent, "byte")) sent, \(connection.received) received"
        return "  \(connection.id) to \(target) (\(counts))"
      }
  }

  /// Whether connections are taken, or are to be.
  var isListening: Bool { get async { await forwarder.isListening } }

  /// How many connections are carried or wait.
  var count: Int { get async { await forwarder.count } }

  /// How many bytes were carried, in both directions.
  var carried: UInt64 { get async { await forwarder.carried } }

  /// Returns when none is carried or waits any more.
  func untilIdle() async { await forwarder.untilIdle() }

  /// A link that was lost may have taken the sessions with it.
  func linkLost() async { await forwarder.linkLost() }

  /// Ports that could not be opened before are tried again.
  func linkIsBack() async { await forwarder.linkIsBack() }

  /// Closes the ports, and what was forwarded.
  func close() async { await forwarder.close() }
}
