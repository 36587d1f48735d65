/// A number and a text: why the host ends an attachment or declines a request.
public struct Refusal: Sendable, Equatable {
  /// The reasons of version 1; a later version may send others.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The number of the wire.
    public var rawValue: UInt16
    /// A code of the wire.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// No such session, or its tombstone was removed.
    public static let unknownSession = Code(rawValue: 1)
    /// No common protocol version.
    public static let version = Code(rawValue: 2)
    /// Too many attachments.
    public static let limit = Code(rawValue: 3)
    /// Another client, or a later attachment of the same one, became the writer.
    public static let replaced = Code(rawValue: 4)
    /// The same id with another program, or another run of the session.
    public static let conflict = Code(rawValue: 5)
    /// The client broke the protocol.
    public static let violation = Code(rawValue: 6)
    /// The session was claimed and its program was never started; starting it is safe.
    public static let notStarted = Code(rawValue: 7)
    /// The program could not be executed; the session does not exist.
    public static let cannotExecute = Code(rawValue: 8)
    /// The directory of the sessions cannot be used.
    public static let directory = Code(rawValue: 9)
    /// A file could not be written.
    public static let storage = Code(rawValue: 10)
    /// The program may have run; its keeper or the machine died before the end was recorded.
    public static let outcomeUnknown = Code(rawValue: 11)
    /// No start frame came, or it came damaged: nothing was started.
    public static let noStart = Code(rawValue: 12)
    /// Another session of the name runs, and there is to be one.
    public static let nameTaken = Code(rawValue: 13)
  }

  /// The reason.
  public var code: Code
  /// A sentence for a person, at most 1 KiB.
  public var text: String

  /// A refusal; a text beyond 1 KiB is cut.
  public init(_ code: Code, _ text: String) {
    self.code = code
    self.text = CodedText.bounded(text)
  }

  init(_ payload: ArraySlice<UInt8>) {
    let coded = CodedText(payload)
    code = Code(rawValue: coded.code)
    text = coded.text
  }

  var payload: [UInt8] { CodedText(code: code.rawValue, text: text).payload }
}

/// A number and a text about a condition that ends nothing.
public struct Notice: Sendable, Equatable {
  /// The conditions of version 1; a later version may send others.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The number of the wire.
    public var rawValue: UInt16
    /// A code of the wire.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The journal cannot be written: only the newest output is kept, in memory.
    public static let degraded = Code(rawValue: 1)
    /// The program has closed its standard input: what was not written never will be.
    public static let inputClosed = Code(rawValue: 2)
    /// The terminal dropped input: a line was longer than 4,095 bytes.
    public static let lineTruncated = Code(rawValue: 3)
    /// The session has another name than that of its start; the text is the name.
    public static let renamed = Code(rawValue: 4)
  }

  /// The condition.
  public var code: Code
  /// A sentence for a person, at most 1 KiB.
  public var text: String

  /// A notice; a text beyond 1 KiB is cut.
  public init(_ code: Code, _ text: String) {
    self.code = code
    self.text = CodedText.bounded(text)
  }

  init(_ payload: ArraySlice<UInt8>) {
    let coded = CodedText(payload)
    code = Code(rawValue: coded.code)
    text = coded.text
  }

  var payload: [UInt8] { CodedText(code: code.rawValue, text: text).payload }
}

/// The payload of refused and notice: a number (2) and UTF-8 text.
private struct CodedText {
  var code: UInt16
  var text: String

  init(code: UInt16, text: String) {
    self.code = code
    self.text = text
  }

  init(_ payload: ArraySlice<UInt8>) {
    code = UInt16(payload.bigEndian(at: payload.startIndex, count: 2))
    // What replaces a byte that is no UTF-8 has three.
    text = Self.bounded(String(decoding: payload.dropFirst(2), as: UTF8.self))
  }

  var payload: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: UInt64(code), count: 2)
    return bytes + text.utf8
  }

  static func bounded(_ text: String) -> String {
    guard text.utf8.count > Int(Limits.text) else { return text }
    var end = text.startIndex
    var length = 0
    for index in text.indices {
      length += text[index].utf8.count
      guard length <= Int(Limits.text) else { break }
      end = text.index(after: index)
    }
    return String(text[..<end])
  }
}
