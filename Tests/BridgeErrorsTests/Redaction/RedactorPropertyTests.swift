import BridgeErrors
import Testing

@Suite("The redactor, over random secrets")
struct RedactorPropertyTests {
  private struct Place: Sendable {
    let before: String
    let after: String
    /// What ends a secret in this place, and so cannot be part of it.
    let not: String
  }

  /// Every place that a secret is put in.
  private static let places = [
    Place(before: "password=", after: " rest", not: " \t&\"'`"),
    Place(before: "{\"password\": \"", after: "\", \"a\": 1}", not: "\"\\"),
    Place(before: "PASSWORD='", after: "' rest", not: "'"),
    Place(before: "tool --token ", after: " --x", not: " \t&\"'`-"),
    Place(before: "https://user:", after: "@host.example/path", not: " \t<>@/?#\"'`"),
    Place(before: "postgres://user:", after: "@10.0.0.1:5432/db", not: " \t<>@\"'`0123456789?#"),
    Place(before: "redis://:", after: "@cache", not: " \t<>@\"'`/?#"),
    Place(before: "login user:", after: "@host now", not: " \t<>@\"'`0123456789/"),
    Place(before: "sshpass -p", after: " ssh host", not: " \t&\"'`"),
    Place(before: "sshpass -p '", after: "' ssh host", not: "'"),
    Place(before: "Authorization: ", after: "\nNext: line", not: "\"'`"),
    Place(before: "curl -u name:", after: " host", not: " \t&\"'`"),
    Place(before: "?sig=", after: "&x=1", not: " \t&\"'`"),
  ]

  @Test(arguments: places.indices)
  func noByteOfASecretIsLeft(_ index: Int) {
    let place = Self.places[index]
    let alphabet = (0x20...0x7E).map { Character(Unicode.Scalar($0)) }
      .filter { !place.not.contains($0) }
    var generator = Numbers(state: UInt64(index) + 1)
    for _ in 0..<500 {
      let length = Int.random(in: 0...12, using: &generator)
      let noise = (0..<length).map { _ in alphabet.randomElement(using: &generator) ?? "x" }
      // What ends a value too early shows behind the first of the two.
      let secret = "\(String(noise))CANARY42\(String(noise.reversed()))CANARY42"
      let text = place.before + secret + place.after
      let redacted = Redactor.redacted(text)
      #expect(!redacted.contains("CANARY"), "\(text)")
      #expect(redacted.hasPrefix(place.before) && redacted.hasSuffix(place.after), "\(text)")
      #expect(Redactor.redacted(redacted) == redacted, "\(text)")
    }
  }

  private static let pieces = [
    "\"", "'", "\\", "@", ":", "/", "://", "=", " ", "\n", "password", "token", "-p", "sshpass",
    "sig", "pwd", "ya29.", "hf_", "-----begin", "-----end", "bearer", "a", "é", "(", "<", "&", "?",
  ]

  @Test func whatIsLeftWasThere() {
    var generator = Numbers(state: 7)
    for _ in 0..<3000 {
      let count = Int.random(in: 0...24, using: &generator)
      let text = (0..<count).map { _ in Self.pieces.randomElement(using: &generator) ?? "" }
        .joined()
      var rest = text[...]
      for piece in Redactor.redacted(text).components(of: Redactor.mark) {
        let range = rest.firstRange(of: piece)
        #expect(range != nil || piece.isEmpty, "\(text)")
        rest = rest[(range?.upperBound ?? rest.startIndex)...]
      }
    }
  }

  @Test func plainWordsStay() {
    var generator = Numbers(state: 8)
    for _ in 0..<1000 {
      let words = (0..<8).map { _ -> String in
        let letters = (0..<5).map { _ in "abcdefgilmnoru".randomElement(using: &generator) ?? "a" }
        return String(letters)
      }
      let text = words.joined(separator: " ")
      #expect(Redactor.redacted(text) == text)
    }
  }
}

extension String {
  fileprivate func components(of separator: String) -> [Substring] {
    split(separator: separator, omittingEmptySubsequences: false)
  }
}

/// SplitMix64, for cases that are the same in every run.
private struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
