import BridgeSessionProtocol

/// What a verb writes to standard output: after a marker that the client chose, since start-up
/// files may print before it, frames.
struct Answer {
  private let marker: [UInt8]?

  init(marker: String?) { self.marker = marker.map { Array($0.utf8) } }

  /// True for a client, false for a person who reads text.
  var isFramed: Bool { marker != nil }

  /// Says who reads what the client sends, and where it keeps sessions: a client sends nothing
  /// before that. At once, so that both come in one packet.
  func begin(at places: [Identifier] = []) {
    if let marker { Machine.write(marker + Greeting(places).bytes, to: 1) }
  }

  /// Begins an answer with a greeting of its own.
  func begin(_ greeting: String) {
    if let marker { Machine.write(marker + Array(greeting.utf8), to: 1) }
  }

  @discardableResult
  func send(_ frame: Frame) -> Bool {
    if isFramed { return Machine.write(frame.encoded, to: 1) }
    return Machine.write(Array(Self.text(frame).utf8), to: 1)
  }

  /// Declines, and returns the exit status for it.
  func decline(_ code: Refusal.Code, _ text: String) -> UInt8 {
    if isFramed {
      send(.refused(Refusal(code, text)))
    } else {
      Machine.write(Array("bridge-host: \(text)\n".utf8), to: 2)
    }
    return HostStatus.of(code)
  }

  /// One line for a person.
  private static func text(_ frame: Frame) -> String {
    guard case .status(let status) = frame else { return "" }
    let name = status.name.map { " " + escaped($0) } ?? ""
    let command = status.command.map { " " + escaped($0) } ?? ""
    let end = status.end.map { " \(describe($0))" } ?? ""
    return
      "\(status.session) \(status.state.rawValue)\(end) \(status.newest) bytes\(name)\(command)\n"
  }

  static func describe(_ end: ProgramEnd) -> String {
    switch end {
    case .exited(let status): "exit \(status)"
    case .signaled(let number, _): "signal \(number)"
    case .unknownKeeperDied: "outcome unknown: the keeper died"
    case .orphaned: "outcome unknown: the keeper died, the program runs"
    case .unknownRebooted: "outcome unknown: the machine was restarted"
    }
  }

  /// Printable ASCII; everything else as \xNN.
  private static func escaped(_ bytes: [UInt8]) -> String {
    bytes.prefix(200).map { byte in
      if (0x20..<0x7F).contains(byte), byte != UInt8(ascii: "\\") {
        return String(UnicodeScalar(byte))
      }
      let digits = String(byte, radix: 16)
      return "\\x" + (digits.count == 1 ? "0" : "") + digits
    }.joined()
  }
}
