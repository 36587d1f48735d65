import BridgeErrors
import Foundation
import Testing

private struct Plain: Error {}

private struct Person: Codable {
  var name: String
  var age: Int
}

@Suite("Wrapping")
struct WrappingTests {
  @Test func whatIsTypedKeepsItsType() {
    #expect(AppError(wrapping: AppError.agentAborted) == .agentAborted)
    #expect(AppError(wrapping: CancellationError()) == .cancelled)
    #expect(AppError(wrapping: URLError(.cancelled)) == .cancelled)
    #expect(AppError(wrapping: URLError(.timedOut)) == .timeout(seconds: 60))
  }

  @Test func whatIsNotIsUnknown() {
    let text = (Plain() as any Error).localizedDescription
    #expect(AppError(wrapping: Plain()) == .unknown(message: text))
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
