import BridgeErrors

/// The head of a proxy's answer to CONNECT, taken in as it comes (RFC 9110, 9.3.6; RFC 9112, 4).
package struct ProxyAnswer: Sendable, Equatable {
  /// What the head says.
  package struct Head: Sendable, Equatable {
    /// 100…599.
    package var status: Int
    /// The words beside it, not escaped.
    package var reason: String
    /// The Retry-After field.
    package var retryAfter: String?
    /// The Location field.
    package var location: String?

    /// A tunnel is open behind the head.
    package var isTunnel: Bool { (200..<300).contains(status) }
  }

  /// How far it has come.
  package enum State: Sendable, Equatable {
    /// More bytes must come.
    case incomplete
    /// The head is whole; what follows it belongs to the tunnel.
    case complete(Head)
    /// It is none: why, as the end of a sentence.
    case refused(String)
  }

  /// The most bytes of all heads together: interim ones come first.
  package static let limit = 8 << 10
  private static let version = Array("HTTP/1.".utf8)

  /// How far it has come.
  package private(set) var state = State.incomplete
  private var head: Head?
  private var line: [UInt8] = []
  private var count = 0

  /// An answer of which nothing has come.
  package init() {}

  /// Takes `bytes` in up to the end of the head; returns how many belong to it.
  package mutating func take(_ bytes: [UInt8]) -> Int {
    for (index, byte) in bytes.enumerated() {
      guard state == .incomplete else { return index }
      take(byte)
    }
    return bytes.count
  }

  private mutating func take(_ byte: UInt8) {
    count += 1
    guard count <= Self.limit else {
      return state = .refused("its answer is longer than 8 KiB")
    }
    guard byte != UInt8(ascii: "\n") else { return endLine() }
    line.append(byte)
    // What speaks another protocol may send no line end at all.
    if head == nil, line.count <= Self.version.count, byte != Self.version[line.count - 1] {
      state = .refused("it sent no HTTP answer")
    }
  }

  private mutating func endLine() {
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    defer { line = [] }
    guard let head else {
      self.head = Self.statusLine(line)
      if self.head == nil { state = .refused("its status line is malformed") }
      return
    }
    guard line.isEmpty else { return addField() }
    // An interim answer is followed by another one (RFC 9110, 15.2).
    if (100..<200).contains(head.status), head.status != 101 {
      self.head = nil
    } else {
      state = .complete(head)
    }
  }

  /// `HTTP/1.1 200 Connection established`; the reason may be missing.
  private static func statusLine(_ line: [UInt8]) -> Head? {
    guard line.count >= 12, line.starts(with: version), isDigit(line[7]),
      line[8] == UInt8(ascii: " "), line[9...11].allSatisfy(isDigit),
      line.count == 12 || line[12] == UInt8(ascii: " ")
    else { return nil }
    let status = line[9...11].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    guard (100..<600).contains(status) else { return nil }
    return Head(status: status, reason: String(decoding: line.dropFirst(13), as: UTF8.self))
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private mutating func addField() {
    let text = String(decoding: line, as: UTF8.self)
    guard let colon = text.firstIndex(of: ":"), let seen = head else { return }
    let value = text[text.index(after: colon)...].trimming { $0 == " " || $0 == "\t" }
    switch text[..<colon].lowercased() {
    case "retry-after": head?.retryAfter = seen.retryAfter ?? String(value)
    case "location": head?.location = seen.location ?? String(value)
    default: break
    }
  }
}

extension Substring {
  fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
    let start = drop(while: isBlank)
    guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start.prefix(0) }
    return start[...last]
  }
}
