import BridgeErrors
import Foundation
import Testing

private struct Plain: Error {}

private enum Numbered: Error { case first, second(Int), third }

private struct Described: LocalizedError {
  var errorDescription: String?
  var failureReason: String?
}

private struct Person: Codable {
  var name: String
  var age: Int
}

@Suite("Wrapping")
struct WrappingTests {
  @Test func whatIsTypedKeepsItsType() {
    #expect(AppError(wrapping: AppError.agentAborted) == .agentAborted)
    #expect(AppError(wrapping: CancellationError()) == .cancelled)
  }

  @Test func whatIsNotIsUnknownWithTheTextThatFoundationHas() {
    let errors: [any Error] = [
      Plain(), Numbered.first, Numbered.second(2), Numbered.third, Described(),
      Described(errorDescription: "text"), Described(failureReason: "reason"),
      Described(errorDescription: "text", failureReason: "reason"),
    ]
    for error in errors {
      #expect(AppError(wrapping: error) == .unknown(message: error.localizedDescription))
    }
  }

  private struct Foreign: ForeignError {
    var errorText = "timed out"
  }

  private struct Known: ForeignError {
    var appError: AppError { .agentBusy }
    var errorText: String { "auth" }
  }

  @Test func aForeignErrorSaysWhatItIs() {
    #expect(AppError(wrapping: Foreign(errorText: "a\u{1B}")) == .unknown(message: "a\\x1b"))
    #expect(AppError(wrapping: Known()) == .agentBusy)
    #expect(AppError(sshError: Foreign(), host: "h") == .sshTimeout(seconds: 30))
    #expect(AppError(sshError: Known(), host: "h") == .sshAuthenticationFailed(method: "password"))
  }

  static let documents: [(String, AppError)] = [
    (#"{"name": 1, "age": 2}"#, .decodingError(type: "String", detail: "at name")),
    (#"{"name": null, "age": 2}"#, .decodingError(type: "String", detail: "at name")),
    (#"{"name": "n"}"#, .decodingError(type: "object", detail: "no age, at the top")),
    ("secret=1", .decodingError(type: "data", detail: "at the top")),
  ]

  @Test func whatCannotBeReadIsNamedByPlaceNotByContent() throws {
    for (document, expected) in Self.documents {
      let error = #expect(throws: (any Error).self) {
        try JSONDecoder().decode(Person.self, from: Data(document.utf8))
      }
      #expect(AppError(wrapping: try #require(error)) == expected, "\(document)")
    }
  }

  @Test func whatCannotBeWrittenIsNamedByPlace() throws {
    let error = #expect(throws: (any Error).self) {
      try JSONEncoder().encode(["a": Double.infinity])
    }
    #expect(
      AppError(wrapping: try #require(error)) == .encodingError(type: "Double", detail: "at a"))
  }

  @Test func anErrorDuringAnotherKeepsOnlyTheNames() {
    let inner = AppError.serverError(status: 500, message: "password=canary")
    #expect(
      AppError(wrapping: inner, whileHandling: .sshTimeout(seconds: 3))
        == .internalError(detail: "serverError while handling sshTimeout"))
  }
}
