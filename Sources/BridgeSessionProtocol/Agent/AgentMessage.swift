/// A message of a client's ssh-agent stream: one request or one answer of the agent protocol
/// (draft-miller-ssh-agent, 3), with the connection that it belongs to. A connection has one
/// request under way at most.
///
/// On the wire: the connection (4 bytes), the length of the body (4 bytes), the body.
package struct AgentMessage: Sendable, Hashable {
  /// Which connection of a program of the host; 0 for what the host says itself, as text.
  package var connection: UInt32
  /// The request or the answer, without its length in front; empty where the connection has ended.
  package var body: [UInt8]

  /// A message of `connection`.
  package init(_ connection: UInt32, _ body: [UInt8]) {
    self.connection = connection
    self.body = body
  }

  /// The longest body, as OpenSSH's agent takes it (AGENT_MAX_LEN of authfd.c).
  package static let longest = 256 << 10
  /// Connections at one time.
  package static let connections = 256

  /// SSH_AGENT_FAILURE.
  package static let failure: [UInt8] = [5]

  /// The message as it is sent.
  package var encoded: [UInt8] {
    Self.bytes(of: connection) + Self.bytes(of: UInt32(body.count)) + body
  }

  /// `body` as an agent and its programs send it: with its length in front.
  package static func framed(_ body: [UInt8]) -> [UInt8] { bytes(of: UInt32(body.count)) + body }

  private static func bytes(of number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }
}

extension AgentMessage {
  /// Where a client's agent is reached on a host. Only its client knows `token`, so no other user
  /// can be there before.
  package static func directory(_ token: Identifier) -> String { "/tmp/bridge-agent-\(token)" }

  /// The name of the socket in that directory.
  package static let socket = "agent"
}

/// Reads a stream of bodies that each have their length in front, and `prefix` bytes before that.
package struct AgentParser: Sendable {
  /// A body of no byte or of more than `AgentMessage.longest`.
  package struct Violation: Error, Sendable, Equatable {
    /// The length that was given.
    package let length: UInt32

    /// One of `length` bytes.
    package init(length: UInt32) { self.length = length }
  }

  private var buffer: [UInt8] = []
  private let prefix: Int
  private let takesEmpty: Bool

  /// For what a program sends to an agent, or gets from one.
  package static var plain: AgentParser { AgentParser(prefix: 0, takesEmpty: false) }
  /// For `AgentMessage`s.
  package static var messages: AgentParser { AgentParser(prefix: 4, takesEmpty: true) }

  private init(prefix: Int, takesEmpty: Bool) {
    self.prefix = prefix
    self.takesEmpty = takesEmpty
  }

  /// Whether a part of a body was received.
  package var isAmid: Bool { !buffer.isEmpty }

  /// Adds bytes that were received.
  package mutating func append(_ bytes: [UInt8]) { buffer += bytes }

  /// The next message, of connection 0 without a prefix; nil until more bytes come.
  ///
  /// - Throws: `Violation`, after which the stream cannot be read.
  package mutating func next() throws(Violation) -> AgentMessage? {
    guard buffer.count >= prefix + 4 else { return nil }
    let connection = prefix == 0 ? 0 : number(at: 0)
    let length = number(at: prefix)
    guard length <= AgentMessage.longest, length > 0 || takesEmpty else {
      throw Violation(length: length)
    }
    let end = prefix + 4 + Int(length)
    guard buffer.count >= end else { return nil }
    defer { buffer.removeFirst(end) }
    return AgentMessage(connection, Array(buffer[(prefix + 4)..<end]))
  }

  private func number(at start: Int) -> UInt32 {
    buffer[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
