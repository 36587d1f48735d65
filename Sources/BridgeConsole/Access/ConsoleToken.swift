public import BridgeErrors
import BridgeSessionProtocol

/// A token that opens the page. No description shows its secret.
public struct ConsoleToken: Sendable {
  /// What its holder may do.
  public enum Access: String, Sendable, Hashable, Codable {
    /// Read.
    case view
    /// Read, answer approvals, and choose what is done about errors.
    case write
  }

  /// Letters and digits of 32 random bytes in base64url.
  static let shortest = 43

  /// Who holds it: what decisions are signed with.
  public let name: String
  /// What its holder may do.
  public let access: Access
  let secret: Secret

  /// A token with a new secret of 32 random bytes.
  public init(name: String, access: Access) {
    self.name = name
    self.access = access
    secret = Secret(Self.newSecret())
  }

  /// A token with a secret that the application keeps.
  ///
  /// - Parameter secret: at least 43 of the characters of base64url, which 32 random bytes have.
  /// - Throws: `validationError` for a shorter one, and for other characters.
  public init(name: String, access: Access, secret: Secret) throws(AppError) {
    let isGood = secret.reveal { bytes in
      bytes.count >= Self.shortest && bytes.count <= 1024 && bytes.allSatisfy(Self.isPlain)
    }
    guard isGood else {
      throw .validationError(
        field: "token",
        message: "A token has at least 43 letters, digits, - or _, from 32 random bytes.")
    }
    self.name = name
    self.access = access
    self.secret = secret
  }

  /// 64 hexadecimal digits of the system's generator.
  static func newSecret() -> String { "\(Identifier.random())\(Identifier.random())" }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension Secret {
  /// Whether these are its bytes, in a time that does not depend on where they differ.
  func equals(_ candidate: some Collection<UInt8>) -> Bool {
    let candidate = Array(candidate)
    return reveal { bytes in
      var difference = bytes.count ^ candidate.count
      for (index, byte) in bytes.enumerated() {
        difference |= Int(byte ^ (index < candidate.count ? candidate[index] : 0))
      }
      return difference == 0
    }
  }
}
