#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a link ends before it was used. The answer is its envelope and then close code 1008
/// (RFC 6455, 7.4.1: policy violation), which no client takes for a reason to try again.
public enum WireHelloError: Error, Equatable, Sendable {
  /// The first message was something else, or too long.
  case notAHello
  /// The peer speaks a version that this build does not know.
  case tooNew(theirs: Int, ours: Int)

  /// The close code that follows the envelope.
  public static let closeCode = 1008
}

extension WireHelloError: EnvelopeError {
  /// 400, or 426 (RFC 9110, 15.5.22: upgrade required).
  public var envelopeStatus: Int {
    switch self {
    case .notAHello: 400
    case .tooNew: 426
    }
  }

  /// `HELLO_EXPECTED` or `VERSION_UNSUPPORTED`.
  public var envelopeCode: String {
    switch self {
    case .notAHello: "HELLO_EXPECTED"
    case .tooNew: "VERSION_UNSUPPORTED"
    }
  }

  /// What is wrong, and which version would be right.
  public var envelopeMessage: String {
    switch self {
    case .notAHello:
      "The first message must be a hello."
    case .tooNew(let theirs, let ours):
      "Version \(theirs) of the contract is not supported here, only versions up to \(ours)."
    }
  }
}

extension WireHelloError: LocalizedError {
  /// The envelope's text.
  public var errorDescription: String? { envelopeMessage }
}
