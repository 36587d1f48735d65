/// Takes secrets out of text before it is shown or logged (G-12, S3-93…S3-97).
///
/// Recognized are: PEM blocks; Authorization, Cookie and API-key headers; assignments and flags
/// whose name holds password, passphrase, token, secret, credential or API key; signatures in
/// query strings, and what is usual there for a login (`code`, `state`, `session`); bearer tokens;
/// `user:password@` in URLs and elsewhere; the usual shapes of access tokens; e-mail addresses. A
/// bare word that only its owner knows to be a password cannot be recognized: that is what
/// `Secret` is for.
public enum Redactor {
  /// The replacement of a secret.
  public static let mark = "[redacted]"

  /// `text` without secrets; the same text where it holds none. Takes time linear in its length.
  public static func redacted(_ text: String) -> String {
    guard SecretNeedles.shared.isIn(text.utf8) else { return text }
    var scan = SecretScan(text)
    return scan.redacted()
  }
}

extension UInt8 {
  /// The ASCII letter in lower case; anything else unchanged.
  var lowercased: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }

  var isASCIIWordPart: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true  // 0-9 A-Z a-z _ -
    default: false
    }
  }

  var isASCIIDigit: Bool { 0x30...0x39 ~= self }

  var isASCIISpace: Bool { self == 0x20 || 0x09...0x0D ~= self }

  var isASCIIQuote: Bool { self == 0x22 || self == 0x27 || self == 0x60 }

  var isASCIILetter: Bool { 0x61...0x7A ~= lowercased }
}
