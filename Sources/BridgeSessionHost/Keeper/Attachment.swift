import BridgeSessionProtocol

/// One attachment's descriptors and bytes under way.
final class Attachment {
  let id: HostSession.AttachmentID
  let input: Channel
  let output: Channel
  /// The attaching process, which exits with the code it is sent; nil in that process itself.
  let process: Descriptor?
  /// The socket of the client's ssh-agent; nil where it has none.
  let agent: String?
  let since: Milliseconds
  var parser = FrameParser()
  var pieceSize = PieceSize()
  var readSize = ReadSize()
  private var outbox = FrameOutbox()
  /// Values of pings that are not answered yet.
  private var pings: [UInt64] = []
  /// Whether the reader was slower than the program, and its pipe or socket was widened.
  private var isWide = false
  /// When the reader took bytes last.
  private var takenAt: Milliseconds = 0
  /// The code for the attaching process, once the attachment has ended.
  private(set) var exitCode: UInt8?
  private(set) var endedAt: Milliseconds = 0
  /// The peer is gone: nothing can be sent.
  var isGone = false

  init(
    id: HostSession.AttachmentID, input: Channel, output: Channel, process: Descriptor?,
    agent: String?, at now: Milliseconds
  ) {
    self.id = id
    self.input = input
    self.output = output
    self.process = process
    self.agent = agent
    since = now
  }

  /// Beyond this many unsent bytes no more frames are made.
  static let outboxLimit = 256 << 10
  /// Beyond this many pings without an answer no more frames are read.
  private static let pingLimit = 1024

  /// Until when a fast reader is waited for: what the program prints meanwhile would be read back
  /// from the journal. Nil for a slow one, which holds no program up.
  func catchUpEnd(at now: Milliseconds) -> Milliseconds? {
    let end = takenAt + Self.catchUpTime
    return pieceSize.mayBeFast && unsent > 0 && now < end ? end : nil
  }

  private static let catchUpTime: Milliseconds = 5

  /// How long the last frames of an ended attachment may take.
  static let lastFrames: Milliseconds = 2000

  var unsent: Int { outbox.count }
  var hasSpace: Bool { unsent < Self.outboxLimit }
  /// Whether frames are read. Output under way is no reason against it: what a client types is to
  /// reach the program also where its own output is behind. Of all that a client sends only pings
  /// take memory here, until they are answered.
  var takesFrames: Bool { exitCode == nil && pings.count < Self.pingLimit }

  func queue(_ bytes: [UInt8], _ more: ArraySlice<UInt8> = []) {
    outbox.add(bytes[...])
    outbox.add(more)
  }

  /// Answers a ping once there is space.
  func answer(_ ping: UInt64) { pings.append(ping) }

  /// Makes the answers that there is space for.
  func queueAnswers() {
    guard !pings.isEmpty, hasSpace else { return }
    let count = min(pings.count, Self.outboxLimit / Limits.headerLength)
    outbox.add(pings.prefix(count).flatMap { Frame.pong($0).encoded }[...])
    pings.removeFirst(count)
  }

  /// Sends what fits now.
  func flush(at now: Milliseconds) {
    let before = unsent
    guard before > 0, !isGone else { return }
    defer { if unsent < before { takenAt = now } }
    switch outbox.write(to: output) {
    case .wrote: return
    case .closed: isGone = true
    case .nothing:
      if !isWide { output.descriptor.widen() }
      isWide = true
    }
  }

  func end(_ code: UInt8, at now: Milliseconds) {
    guard exitCode == nil else { return }
    while !pings.isEmpty, hasSpace { queueAnswers() }
    exitCode = code
    endedAt = now
  }

  /// True when it can be forgotten.
  func isFinished(at now: Milliseconds) -> Bool {
    if isGone { return true }
    return exitCode != nil && (unsent == 0 || now >= endedAt + Self.lastFrames)
  }

  /// Sends the attaching process its exit status.
  func release() {
    if let process { _ = process.send([LocalMessage.version, exitCode ?? HostStatus.unavailable]) }
  }
}

/// Messages between an attaching process and a keeper, which may be of another version of this
/// program: this form never changes.
enum LocalMessage {
  static let version: UInt8 = 1
  /// Requests: the version, one of these, an argument; replies: the version and a code. With attach
  /// the number of a link to the client's agent may follow (8 bytes; 0 for none), and behind it the
  /// address that the login came from.
  static let attach: UInt8 = 1
  static let kill: UInt8 = 2
  static let wait: UInt8 = 3
  /// Answered with a receipt: the keeper is there and awake.
  static let probe: UInt8 = 4
  /// Answered with a receipt: the session is not removed while the connection is open.
  static let hold: UInt8 = 5
  /// What held it has what it wanted: its end is no loss.
  static let release: UInt8 = 6
  /// The session was given another name.
  static let rename: UInt8 = 7
  static let receipt: UInt8 = 0xFF
  /// The length of an attach request with the number of a link.
  static let attachLength = 11

  /// The address in an attach request; nil where it has none that can be one.
  static func address(in message: [UInt8]) -> String? {
    let bytes = message.dropFirst(attachLength)
    let isAddress = bytes.allSatisfy { UInt8(ascii: "%")...UInt8(ascii: "z") ~= $0 }
    guard isAddress, 1...longestAddress ~= bytes.count else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Of an IPv6 address with the name of its interface (RFC 4007, 11).
  static let longestAddress = 64
}

/// Exit statuses of this program: sysexits(3), as bridgectl's.
enum HostStatus {
  static let success: UInt8 = 0
  static let usage: UInt8 = 64
  static let missing: UInt8 = 66
  static let storage: UInt8 = 73
  static let unknownOutcome: UInt8 = 74
  static let unavailable: UInt8 = 75
  static let violation: UInt8 = 76
  static let configuration: UInt8 = 78

  /// The exit status of an attaching process.
  static func of(_ end: HostSession.AttachmentEnd) -> UInt8 {
    switch end {
    case .detached, .closed: success
    case .replaced: unavailable
    case .violated: violation
    case .declined(let code): of(code)
    }
  }

  static func of(_ code: Refusal.Code) -> UInt8 {
    switch code {
    case .unknownSession, .notStarted: missing
    case .conflict: usage
    case .limit, .replaced: unavailable
    case .outcomeUnknown: unknownOutcome
    case .storage: storage
    case .violation, .noStart: violation
    default: configuration
    }
  }
}
