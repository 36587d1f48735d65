/// Takes secrets out of text before it is shown or logged (G-12, S3-93…S3-97).
///
/// Recognized are: PEM blocks; Authorization, Cookie and API-key headers; assignments and flags
/// whose name holds password, passphrase, token, secret, credential or API key; signatures in
/// query strings; bearer tokens; `user:password@` in URLs and elsewhere; the usual shapes of access
/// tokens; e-mail addresses. A
/// bare word that only its owner knows to be a password cannot be recognized: that is what `Secret`
/// is for.
public enum Redactor {
  /// The replacement of a secret.
  public static let mark = "[redacted]"

  /// `text` without secrets; the same text where it holds none. Takes time linear in its length.
  public static func redacted(_ text: String) -> String {
    guard mayHoldSecret(text.utf8) else { return text }
    var scan = SecretScan(text)
    return scan.redacted()
  }

  /// One cheap pass that most texts do not get beyond: is there an `@`, or four letters that every
  /// secret we know comes with?
  private static func mayHoldSecret(_ bytes: some Sequence<UInt8>) -> Bool {
    var last: UInt32 = 0
    for byte in bytes {
      if byte == UInt8(ascii: "@") { return true }
      last = last << 8 | UInt32(byte.lowercased)
      if isSuspicious(last) { return true }
    }
    return false
  }

  private static func isSuspicious(_ four: UInt32) -> Bool {
    switch four & 0xFF_FFFF {
    // pwd, "-u ", sk-, eyj, sk_, rk_, hf_
    case 0x70_7764, 0x2D_7520, 0x73_6B2D, 0x65_796A, 0x73_6B5F, 0x72_6B5F, 0x68_665F: return true
    default: break
    }
    return switch four {
    // pass, toke, secr, cred, "----", oriz (authorization), cook, bear
    case 0x7061_7373, 0x746F_6B65, 0x7365_6372, 0x6372_6564, 0x2D2D_2D2D, 0x6F72_697A,
      0x636F_6F6B, 0x6265_6172:
      true
    // apik, api_, api-, "api ", sske (access key), ss_k, ss-k, "ss k", teke, te_k, te-k, "te k"
    case 0x6170_696B, 0x6170_695F, 0x6170_692D, 0x6170_6920, 0x7373_6B65, 0x7373_5F6B,
      0x7373_2D6B, 0x7373_206B, 0x7465_6B65, 0x7465_5F6B, 0x7465_2D6B, 0x7465_206B:
      true
    // ghp_ gho_ ghs_ ghu_ hub_ lpat xoxb xoxp akia aiza b3bl user
    case 0x6768_705F, 0x6768_6F5F, 0x6768_735F, 0x6768_755F, 0x6875_625F, 0x6C70_6174,
      0x786F_7862, 0x786F_7870, 0x616B_6961, 0x6169_7A61, 0x6233_626C, 0x7573_6572:
      true
    // xoxa xoxr xoxs xapp asia npm_ ya29 sig= ture (signature)
    case 0x786F_7861, 0x786F_7872, 0x786F_7873, 0x7861_7070, 0x6173_6961, 0x6E70_6D5F,
      0x7961_3239, 0x7369_673D, 0x7475_7265:
      true
    default: false
    }
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
