/// An operation of the writer, numbered from 1 within a session and done once.
public enum Control: Sendable, Equatable {
  /// Sets the size of the terminal.
  case resize(WindowSize)
  /// Signals the program's foreground process group.
  case signal(SessionSignal)
  /// Closes standard input once all input below the offset was written.
  case endInput(at: UInt64)
  /// Ends the attachment; the program goes on.
  case detach
  /// Ends the attachment, and removes a session whose end this client has committed.
  case close

  private enum Kind: UInt8 {
    case resize = 1
    case signal = 2
    case endInput = 3
    case detach = 4
    case close = 5
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let violation = ProtocolError.malformedPayload(type: FrameType.control.rawValue)
    guard let first = payload.first, let kind = Kind(rawValue: first) else { throw violation }
    let rest = payload.dropFirst()
    switch kind {
    case .resize:
      guard let size = WindowSize(bytes: rest) else { throw violation }
      self = .resize(size)
    case .signal:
      let name = String(decoding: rest, as: UTF8.self)
      guard let signal = SessionSignal(rawValue: name) else { throw violation }
      self = .signal(signal)
    case .endInput:
      guard rest.count == 8 else { throw violation }
      let offset = rest.bigEndian(at: rest.startIndex, count: 8)
      guard offset < Limits.offset else { throw violation }
      self = .endInput(at: offset)
    case .detach, .close:
      guard rest.isEmpty else { throw violation }
      self = kind == .detach ? .detach : .close
    }
  }

  var payload: [UInt8] {
    switch self {
    case .resize(let size): return [Kind.resize.rawValue] + size.bytes
    case .signal(let signal): return [Kind.signal.rawValue] + signal.rawValue.utf8
    case .endInput(let offset):
      var bytes = [Kind.endInput.rawValue]
      bytes.append(bigEndian: offset, count: 8)
      return bytes
    case .detach: return [Kind.detach.rawValue]
    case .close: return [Kind.close.rawValue]
    }
  }
}

/// Signals that a client may send, by the names of RFC 4254 and POSIX: numbers differ by machine.
public enum SessionSignal: String, Sendable, CaseIterable {
  /// SIGHUP.
  case hangup = "HUP"
  /// SIGINT.
  case interrupt = "INT"
  /// SIGQUIT.
  case quit = "QUIT"
  /// SIGKILL.
  case kill = "KILL"
  /// SIGUSR1.
  case user1 = "USR1"
  /// SIGUSR2.
  case user2 = "USR2"
  /// SIGALRM.
  case alarm = "ALRM"
  /// SIGTERM.
  case terminate = "TERM"
  /// SIGCONT.
  case `continue` = "CONT"
  /// SIGSTOP.
  case stop = "STOP"
  /// SIGTSTP.
  case terminalStop = "TSTP"
}

/// How a program ended.
public enum ProgramEnd: Sendable, Hashable, Codable {
  /// It returned a status.
  case exited(status: UInt8)
  /// A signal ended it (Linux number).
  case signaled(number: UInt8, dumpedCore: Bool)
  /// The keeper died, so nothing recorded the end.
  case unknownKeeperDied
  /// The keeper died, and the program still runs: no client reaches it, a signal does.
  case orphaned
  /// The machine was restarted before the end was recorded.
  case unknownRebooted

  /// Whether how the program ended, and where its output did, is not known.
  public var isUnknown: Bool {
    switch self {
    case .unknownKeeperDied, .orphaned, .unknownRebooted: true
    case .exited, .signaled: false
    }
  }

  private enum Kind: UInt8 {
    case exited = 1
    case signaled = 2
    case keeperDied = 3
    case rebooted = 4
  }

  package init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let violation = ProtocolError.malformedPayload(type: FrameType.ended.rawValue)
    let start = payload.startIndex
    guard payload.count == 8, let kind = Kind(rawValue: payload[start]) else { throw violation }
    let (flags, value) = (payload[start + 1], payload.bigEndian(at: start + 4, count: 4))
    guard flags <= 1, payload[start + 2] == 0, payload[start + 3] == 0, value <= 255 else {
      throw violation
    }
    switch kind {
    case .exited: self = .exited(status: UInt8(value))
    case .signaled: self = .signaled(number: UInt8(value), dumpedCore: flags == 1)
    case .keeperDied: self = flags == 1 ? .orphaned : .unknownKeeperDied
    case .rebooted: self = .unknownRebooted
    }
  }

  package var payload: [UInt8] {
    switch self {
    case .exited(let status): [Kind.exited.rawValue, 0, 0, 0, 0, 0, 0, status]
    case .signaled(let number, let core):
      [Kind.signaled.rawValue, core ? 1 : 0, 0, 0, 0, 0, 0, number]
    case .unknownKeeperDied: [Kind.keeperDied.rawValue, 0, 0, 0, 0, 0, 0, 0]
    case .orphaned: [Kind.keeperDied.rawValue, 1, 0, 0, 0, 0, 0, 0]
    case .unknownRebooted: [Kind.rebooted.rawValue, 0, 0, 0, 0, 0, 0, 0]
    }
  }
}
