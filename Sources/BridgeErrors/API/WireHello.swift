#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The first message of a WebSocket, from each side: which version of the contract it speaks
/// (S4-67). `{"type":"hello","v":1,"correlationId":"…"}`.
///
/// A version counts changes that break: new keys and new codes do not, so unknown keys are ignored
/// and an older peer is understood.
public struct WireHello: Encodable, Equatable, Sendable {
  /// The version of the contract that this build speaks.
  public static let currentVersion = 1
  /// The longest hello that is read, in bytes.
  public static let maximumLength = 4096
  /// What is in `type`.
  static let type = "hello"

  /// The version that the sender speaks, from 1.
  public let version: Int
  /// The id that ties the link to both sides' logs.
  public let correlationID: CorrelationID?

  /// The hello of this build.
  public init(correlationID: CorrelationID? = nil) {
    version = Self.currentVersion
    self.correlationID = correlationID
  }

  /// Reads a peer's hello.
  ///
  /// An id that is not harmless counts as absent, as in a header.
  ///
  /// - Throws: `.notAHello` where `message` is none, `.tooNew` where its version is above ours.
  public init(message: Data) throws(WireHelloError) {
    guard message.count <= Self.maximumLength,
      let frame = try? JSONDecoder.apiDecoder.decode(Frame.self, from: message),
      frame.type == Self.type, frame.v >= 1
    else { throw .notAHello }
    guard frame.v <= Self.currentVersion else {
      throw .tooNew(theirs: frame.v, ours: Self.currentVersion)
    }
    version = frame.v
    correlationID = frame.correlationId.flatMap(CorrelationID.init(header:))
  }

  /// Writes the frame.
  public func encode(to encoder: any Encoder) throws {
    let frame = Frame(type: Self.type, v: version, correlationId: correlationID?.description)
    try frame.encode(to: encoder)
  }

  private struct Frame: Codable {
    var type: String
    var v: Int
    var correlationId: String?
  }
}
