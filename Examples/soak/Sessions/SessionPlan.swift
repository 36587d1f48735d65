import BridgeFaults
import BridgeSessionProtocol

/// One session, drawn from a seed.
struct SessionPlan: Sendable {
  let name: String
  let id: SessionID
  let client: ClientID
  let outputSeed: UInt64
  let outputCount: Int
  let inputSeed: UInt64
  let inputCount: Int
  let status: UInt8
  let isOnTerminal: Bool
  /// Its keeper is killed after so many faults: its outcome is unknown from then on.
  let keeperDeath: Int?
  /// A second client attaches and reads nothing.
  let hasStalledViewer: Bool
  /// Its client is sent the screen in place of output that it is far behind.
  let catchesUp: Bool
  /// A second client, whose terminal is smaller, attaches and falls behind.
  let hasSmallViewer: Bool

  /// Without faults: what is made on first use is no leak.
  static func quiet(slot: Int, seed: UInt64) -> SessionPlan {
    SessionPlan(slot: slot, number: 0, seed: seed, isQuiet: true)
  }

  init(slot: Int, number: Int, seed: UInt64, isQuiet: Bool = false) {
    name = "session \(slot + 1).\(number)"
    var generator = SplitMix64(
      seed: seed ^ UInt64(slot) << 48 ^ UInt64(number) << 20 ^ (isQuiet ? 1 << 63 : 0))
    id = Identifier(high: generator.next(), low: generator.next())
    client = Identifier(high: generator.next(), low: generator.next())
    (outputSeed, inputSeed) = (generator.next(), generator.next())
    let most = isQuiet ? 32 << 10 : 2 << 20
    let part = Double.random(in: 0..<1, using: &generator)
    inputCount = Int.random(in: 1...(most / 16), using: &generator)
    status = UInt8.random(in: 0...250, using: &generator)
    let kind = Int.random(in: 0..<24, using: &generator)
    keeperDeath = kind == 0 && !isQuiet ? Int.random(in: 1...6, using: &generator) : nil
    isOnTerminal = kind % 2 == 1
    hasStalledViewer = kind % 4 == 2 && !isQuiet
    catchesUp = kind % 4 == 3 && !isQuiet
    // In a second without a link more than a client is sent.
    outputCount = 1 + Int(part * Double(catchesUp ? 12 << 20 : most))
    hasSmallViewer = kind % 8 >= 5 && isOnTerminal && !isQuiet
  }

  /// The program in `folder`.
  func program(in folder: String) -> SoakProgram {
    SoakProgram(
      folder: folder, output: output, outputCount: outputCount, input: input,
      inputCount: inputCount, status: Int32(status), longestPause: catchesUp ? 4 : 40)
  }

  var output: SeededBytes { SeededBytes(seed: outputSeed, isText: isOnTerminal) }
  var input: SeededBytes { SeededBytes(seed: inputSeed) }

  /// The session, with `executable` as the program on the host.
  func spec(_ executable: String, in folder: String) -> SessionSpec {
    var spec = SessionSpec(session: id)
    let words = ([executable] + program(in: folder).arguments).map { "'\($0)'" }
    let command = "exec " + words.joined(separator: " ")
    spec.command = Array((isOnTerminal ? "stty raw -echo; " + command : command).utf8)
    if isOnTerminal {
      spec.terminal = Array("dumb".utf8)
      spec.size = WindowSize(
        columns: UInt16(WatchedScreen.columns), rows: UInt16(WatchedScreen.rows))
    }
    return spec
  }
}

/// What happens to a session.
enum SessionHavoc: String, CaseIterable, Sendable {
  case reset
  case orderlyClose = "orderly close"
  case halfClose = "half-close to us"
  case farHalfClose = "half-close to them"
  case stall = "short stall"
  case blackHole = "black hole"
  case oneWay = "black hole, one way"
  case unread = "peer does not read"
  case cut = "cut in the stream"
  case cutNext = "cut in the next attachment"
  case corrupt = "corrupted byte"
  case refuse = "refused for a while"
  case partition
  case silence = "accepted, then silence"
  case flap
  case clientKilled = "client killed"
  case clientKilledSilently = "client killed, link half open"
  case keeperKilled = "keeper killed"

  /// What may come at any time; a keeper's death is planned.
  static let usual = allCases.filter { $0 != .keeperKilled }
}
