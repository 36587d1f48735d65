import BridgeErrors
import Foundation
import Testing

@Suite struct EnvelopeNormalizerTests {
  private func message(status: Int = 400, _ body: Any?) -> String? {
    let normalized = EnvelopeNormalizer.normalize(status: status, body: body) as? [String: Any]
    let error = normalized?["error"] as? [String: Any]
    #expect(error?["code"] as? String == "UNKNOWN_ERROR")
    return error?["message"] as? String
  }

  @Test func textBecomesTheMessage() {
    #expect(message("Out of disk") == "Out of disk")
  }

  @Test func whatSaysNothingIsWrapped() {
    let bodies: [Any?] = [
      nil, NSNull(), "", 0, false, [String](), [String: Any](), ["detail": "x"], [1, 2],
    ]
    for body in bodies {
      #expect(message(body) == "An error occurred", "\(String(describing: body))")
    }
  }

  @Test func anErrorThatIsTextBecomesTheMessage() {
    #expect(message(["error": "No such user"]) == "No such user")
  }

  @Test func anErrorThatIsNoObjectIsWrapped() {
    for error in ["", NSNull(), 0, 42, true, [1]] as [Any] {
      #expect(message(["error": error]) == "An error occurred", "\(error)")
    }
  }

  @Test func anErrorObjectIsLeftAlone() throws {
    let body: [String: Any] = ["error": ["message": "No", "code": "X"], "more": 1]
    let result = try #require(
      EnvelopeNormalizer.normalize(status: 500, body: body) as? NSDictionary)
    #expect(result == body as NSDictionary)
  }

  @Test func belowFourHundredNothingChanges() {
    #expect(EnvelopeNormalizer.normalize(status: 399, body: "fine") as? String == "fine")
    #expect(EnvelopeNormalizer.normalize(status: 200, body: nil) == nil)
  }

  @Test func whatComesOutIsAnEnvelope() throws {
    for json in [#""text""#, "null", "[]", #"{"error":"no"}"#, #"{"a":1}"#, "0"] {
      let body = try JSONSerialization.jsonObject(
        with: Data(json.utf8), options: .fragmentsAllowed)
      let out = try #require(EnvelopeNormalizer.normalize(status: 404, body: body))
      let data = try JSONSerialization.data(withJSONObject: out)
      let result = try StandardAPIResponse<[String: String]>.decodeDetailed(
        from: data, statusCode: 404)
      #expect(throws: APIFailure.self) { try result.get() }
    }
  }
}
