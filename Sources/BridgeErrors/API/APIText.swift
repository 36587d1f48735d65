#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How text of a peer enters an `APIFailure`, and what takes its place where there is none.
enum APIText {
  /// What is shown where nothing better may be said (S3-63, G-19).
  static let unexpected = CatalogueRow.defaultMessage
  /// How much of a body without an envelope is kept, in bytes (G-31).
  static let bodyLimit = 1024
  /// The longest code that is accepted, in bytes.
  static let codeLimit = 64

  /// A peer's text as it may be shown; never empty.
  static func shown(_ message: String) -> String {
    let text = peer(message)
    return text.isEmpty ? unexpected : text
  }

  /// A peer's text without secrets, escaped and bounded.
  static func peer(_ text: String) -> String {
    // Cut first: what is looked through for secrets is bounded too.
    PeerText.escaped(Redactor.redacted(PeerText.escaped(text)))
  }

  /// A peer's code, or nil where it is no identifier.
  static func code(_ text: String) -> String? {
    let isIdentifier = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    return isIdentifier && (1...codeLimit).contains(text.utf8.count) ? text : nil
  }

  /// The first KiB of a body as text; nil where the body is not UTF-8 (S4-10).
  static func head(of body: Data) -> String? {
    var head = body.prefix(bodyLimit)
    // A cut inside a character takes off at most three bytes of it.
    for _ in 0..<4 {
      if let text = String(data: head, encoding: .utf8) { return peer(text) }
      guard head.count < body.count else { return nil }
      head = head.dropLast()
    }
    return nil
  }
}
