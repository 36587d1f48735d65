import Foundation

/// What the verifier of a soak says to a record in a JSON file: its own tests feed it with broken
/// ones.
struct AgentVerification: Codable, Sendable {
  var messages: [ChatEntry]
  var facts: [AgentFacts]
  var answers: [PersonAnswer]

  static let flag = "--verify"

  /// Nil where the words are not for it.
  init?(_ words: [String]) {
    guard words.count == 2, words[0] == Self.flag,
      let data = FileManager.default.contents(atPath: words[1]),
      let record = try? JSONDecoder().decode(Self.self, from: data)
    else { return nil }
    self = record
  }

  /// Prints what is broken, a line each, then how much was compared.
  func run() -> Never {
    var verifier = AgentVerifier()
    for message in messages { verifier.take(message) }
    verifier.verify(facts, answers: answers)
    for words in verifier.broken { say(words) }
    say("\(verifier.lines) lines, \(verifier.duplicates) came again")
    exit(verifier.broken.isEmpty ? 0 : 1)
  }
}
