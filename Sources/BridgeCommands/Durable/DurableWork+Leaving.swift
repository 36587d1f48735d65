import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeWaiting

// How a run leaves its session: it goes on, or ends with the run.
extension DurableWork {
  /// Asks the program to end. Where the link is down, or the program stays, that is said.
  func hangUp(_ session: DurableSession) async {
    guard (try? await session.signal(.hangup)) != nil else { return }
    let clock = context.clock
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await clock.sleep(for: Self.hangupLimit) }
      group.addTask {
        // What comes before its end is wanted no more.
        do throws(AppError) {
          for try await chunk in session.output { await session.commit(through: chunk.end) }
        } catch {
          // It goes on, as far as is known.
        }
      }
      await group.next()
      group.cancelAll()
    }
    let hasEnded = await session.ending != nil
    state.withLock { $0.fate = hasEnded ? .gone : .asked }
  }

  /// For a program that ends at once when it is asked.
  private static let hangupLimit = Duration.seconds(1)

  func detach() {
    state.withLock { if !$0.isGone { $0.fate = .detached } }
    context.reporter.show("\r\n")
    context.finish(.success(.success))
  }

  /// Whether a signal ends the program that this run has started.
  var kills: Bool { isOwn && context.request.onInterrupt == .kill }

  /// A program on a terminal has its Ctrl-C from the keyboard.
  func interrupt() async -> Bool {
    guard kills, case .start(let spec, _) = target, spec.kind == .pipes, mode.current == .durable
    else { return false }
    let session = state.withLock { state in
      guard state.interruption == .none, !state.isGone else { return DurableSession?.none }
      state.interruption = .passedOn
      return state.session
    }
    guard let session, (try? await session.signal(.interrupt)) != nil else { return false }
    if await !session.isAttached {
      sayThatTheInterruptWaits()
    } else if context.reporter.style.isTerminal {
      context.reporter.log("bridgectl: interrupted; Ctrl-C again leaves it running.")
    }
    return true
  }

  /// Says, once, that an interrupt that was passed on is not known to have arrived.
  func sayThatTheInterruptWaits() {
    let isNews = state.withLock { state in
      guard state.interruption == .passedOn, !state.isGone else { return false }
      state.interruption = .waits
      return true
    }
    guard isNews else { return }
    context.reporter.log(
      context.reporter.style.isTerminal
        ? "bridgectl: Ctrl-C waits for the link; Ctrl-C again leaves it running."
        : "bridgectl: the interrupt waits for the link; another one leaves the command running.")
  }

  func abandon() {
    guard kills else { return }
    // Who interrupts a second time leaves it behind.
    state.withLock { if $0.interruption == .none { $0.interruption = .hangsUp } }
  }

  var farewell: String? {
    if isUnansweredStart { return context.farewell(ofUnanswered: calledName) }
    guard found.current != nil, mode.current == .durable else { return nil }
    let (subject, command) = parting
    return subject.map { context.farewell($0, command, of: calledName) }
  }

  /// What became of the session, and the command that returns to it or shows it.
  private var parting: (subject: String?, command: String) {
    let host = context.shownHost
    let (session, operand) = (sessionName, sessionOperand)
    return switch state.withLock(\.fate) {
    case .gone: (nil, "")
    case .asked:
      (
        "session \(session) was asked to end, and no answer came in time. To see whether it has",
        "sessions \(host)"
      )
    case .goesOn:
      ("session \(session) goes on. To return to it", "attach \(role)\(host) \(operand)")
    case .replaced:
      (
        "session \(session) goes on with the other client. To take it back",
        "attach --take \(role)\(host) \(operand)"
      )
    case .detached:
      ("detached from session \(session). To return to it", "attach \(role)\(host) \(operand)")
    }
  }

  /// Whether what starts a session was sent, and no answer came to it.
  private var isUnansweredStart: Bool {
    guard mode.current != .plain, place.mayHaveStarted, case .start = wanted else { return false }
    return state.withLock { $0.streams == nil && !$0.hasFailed }
  }

  /// The options of an attach that make it what this run is, with a space behind each.
  private var role: String {
    let isViewer = if case .attach(_, .viewer, _) = target { true } else { false }
    return (isViewer ? "--view " : "") + (context.request.screen.keepsSize ? "--keep-size " : "")
      + (context.request.forwardsAgent == true && !isViewer ? "-A " : "")
  }

  /// What the user calls the session, as a shell reads it: its name, or the beginning of its id.
  var sessionName: String { ConnectRequest.quoted(calledName) }

  /// Likewise, behind the host in a command.
  var sessionOperand: String { ConnectRequest.operand(calledName) }

  private var calledName: String {
    let typed =
      switch wanted {
      case .start(let spec, _): spec.name.map(SessionText.text)
      case .attach(let selector, _, _): selector.id == nil ? selector.text : nil
      }
    let id = found.current.map { String("\($0)".prefix(SessionText.shortID)) }
    return PeerText.escaped(foundName.current ?? typed ?? id ?? "")
  }

  /// The time that a wish to end has on the way there and back, twice: below the time after which
  /// a signal ends this process.
  private var hangupAnswer: Duration {
    get async {
      let connection = state.withLock { $0.newest }
      let roundTrip = await connection?.roundTrip ?? .zero
      return min(max(roundTrip * 4, .milliseconds(200)), .milliseconds(1200))
    }
  }

  func close() async {
    let (session, streams, isComplete) = state.withLock {
      ($0.session, $0.streams, $0.isComplete)
    }
    guard let session, mode.current == .durable else { return }
    if state.withLock({ $0.interruption == .hangsUp && !$0.isGone }) {
      let outcome = await session.hangUp(within: await hangupAnswer)
      state.withLock { state in
        switch outcome {
        case .done: state.fate = .gone
        case .unanswered: state.fate = .asked
        case .unsent: break
        }
      }
      await streams?.close()
      return
    }
    // A person waits for the prompt; a signal ends this process by then.
    let limit = Duration.seconds(state.withLock { $0.interruption == .none } ? 2 : 1)
    if !isComplete {
      await session.detach()
      await noteUnansweredInterrupt(of: session)
    } else if await leavesUnanswered {
      await session.closeWithLink(within: limit)
    } else {
      await session.close(within: limit)
    }
    await streams?.close()
  }

  /// An interrupt that was passed on and has no answer may end the program yet.
  private func noteUnansweredInterrupt(of session: DurableSession) async {
    guard await session.awaitsControl else { return }
    state.withLock { state in
      switch state.interruption {
      case .passedOn, .waits: if !state.isGone { state.fate = .asked }
      case .none, .hangsUp: break
      }
    }
  }

  /// Whether a round trip is worth leaving without the answer, and the link allows it.
  private var leavesUnanswered: Bool {
    get async {
      guard let connection = state.withLock({ $0.newest }) else { return false }
      let (isFar, delivers) = await (connection.isFar, connection.deliversLastInput)
      return isFar && delivers
    }
  }
}

extension RunContext {
  /// The last words about a session, and the commands that return to it or show it, and end it.
  ///
  /// - Parameter name: what the user calls it.
  func farewell(_ subject: String, _ command: String, of name: String) -> String {
    // Each in a line of its own, which is copied as a whole.
    let commands = [command, "kill \(shownHost) \(ConnectRequest.operand(name))"]
    return
      (["\(subject), or end it:"]
      + commands.map { TerminalBanner.commandIndent + "bridgectl \($0)" }).joined(separator: "\n")
  }

  /// Likewise, where what starts it was sent and no answer came.
  func farewell(ofUnanswered name: String) -> String {
    farewell(
      "session \(ConnectRequest.quoted(name)) may have been started. To see whether it has",
      "sessions \(shownHost)", of: name)
  }
}
