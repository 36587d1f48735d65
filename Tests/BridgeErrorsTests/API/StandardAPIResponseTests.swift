import BridgeErrors
import Foundation
import Testing

private struct Session: Decodable, Equatable {
  let user: String
  let token: String
}

/// Every field may be missing, so any object is one.
private struct Lenient: Decodable, Equatable {
  var user: String?
}

private struct Report: Decodable, Equatable, HasOwnErrorField {
  struct Inner: Decodable, Equatable { var message: String }
  var error: Inner
}

@Suite struct StandardAPIResponseTests {
  static let envelope = #"{"error":{"code":"INTERNAL_ERROR","message":"Failed to authenticate"}}"#

  @Test func anErrorBodyIsNeverDecodedAsASuccess() throws {
    let result = try StandardAPIResponse<Session>.decode(
      from: Data(Self.envelope.utf8), statusCode: 500)
    #expect(result == .failure(.serverError(500)))
  }

  @Test func anEnvelopeInA200IsStillAnError() throws {
    let body = Data(#"{"error":{"code":"INVALID_CREDENTIALS","message":"No"}}"#.utf8)
    let result = try StandardAPIResponse<Lenient>.decode(from: body, statusCode: 200)
    #expect(result == .failure(.unauthorized))
  }

  @Test(arguments: [400, 401, 404, 500, 503, 302, 199])
  func anErrorStatusIsAFailureWhateverTheBody(status: Int) throws {
    for body in ["{}", #"{"user":"ann"}"#, "", "null", "<html>", #"{"error":null}"#] {
      let result = try StandardAPIResponse<Lenient>.decode(
        from: Data(body.utf8), statusCode: status)
      #expect(throws: APIError.self) { try result.get() }
    }
  }

  @Test func aBareStatusKeepsItsMeaning() throws {
    for (status, error) in [(401, APIError.unauthorized), (503, .serverError(503))] {
      let result = try StandardAPIResponse<Session>.decode(
        from: Data("<html>".utf8), statusCode: status)
      #expect(result == .failure(error))
    }
  }

  @Test func aSuccessIsDecoded() throws {
    let body = Data(#"{"user":"ann","token":"t","later":1}"#.utf8)
    let result = try StandardAPIResponse<Session>.decode(from: body, statusCode: 201)
    #expect(try result.get() == Session(user: "ann", token: "t"))
  }

  @Test func aSuccessThatIsNotOneThrowsTheDecodingError() {
    #expect(throws: DecodingError.self) {
      try StandardAPIResponse<Session>.decode(from: Data(#"{"user":1}"#.utf8), statusCode: 200)
    }
    #expect(throws: DecodingError.self) {
      try StandardAPIResponse<Session>.decode(from: Data(), statusCode: 204)
    }
  }

  @Test func aNullErrorIsNoEnvelope() throws {
    let body = Data(#"{"error":null,"user":"ann"}"#.utf8)
    let result = try StandardAPIResponse<Lenient>.decode(from: body, statusCode: 200)
    #expect(try result.get() == Lenient(user: "ann"))
  }

  @Test func aTypeWithAnErrorFieldOfItsOwnOptsOutOf2xxOnly() throws {
    let body = Data(#"{"error":{"message":"disk"}}"#.utf8)
    let good = try StandardAPIResponse<Report>.decode(from: body, statusCode: 200)
    #expect(try good.get() == Report(error: .init(message: "disk")))
    let bad = try StandardAPIResponse<Report>.decode(from: body, statusCode: 404)
    #expect(bad == .failure(.notFound))
  }

  @Test func theDetailsOfTheServerAreKept() throws {
    let body = Data(
      #"""
      {"error":{"code":"VALIDATION_ERROR","message":"Check the form","correlationId":"r-1",
      "validationErrors":[{"field":"email","message":"Enter a valid email."}]},"extra":[1]}
      """#.utf8)
    let result = try StandardAPIResponse<Session>.decodeDetailed(from: body, statusCode: 422)
    #expect(
      result.failure
        == APIFailure(
          error: .badRequest("Check the form"), status: 422, code: "VALIDATION_ERROR",
          message: "Check the form", correlationId: "r-1",
          validationErrors: [.init(field: "email", message: "Enter a valid email.")]))
  }

  @Test func aMissingCodeIsUnknown() throws {
    let body = Data(#"{"error":{"message":"No"}}"#.utf8)
    let result = try StandardAPIResponse<Session>.decodeDetailed(from: body, statusCode: 404)
    #expect(result.failure?.code == "UNKNOWN_ERROR")
    #expect(result.failure?.error == .notFound)
  }

  @Test(arguments: [#""code":7"#, #""correlationId":[]"#, #""validationErrors":"x""#])
  func aSlipInAnExtraDoesNotHideTheError(extra: String) throws {
    let body = Data("{\"error\":{\"message\":\"No\",\(extra)}}".utf8)
    let result = try StandardAPIResponse<Lenient>.decode(from: body, statusCode: 200)
    #expect(throws: APIError.self) { try result.get() }
  }

  @Test func aBodyWithoutEnvelopeIsCutAndNeverShown() throws {
    let body = Data(String(repeating: "é", count: 4_096).utf8)
    let result = try StandardAPIResponse<Session>.decodeDetailed(from: body, statusCode: 418)
    let failure = try #require(result.failure)
    #expect(failure.error == .unknownError(418, String(repeating: "é", count: 512)))
    #expect(failure.localizedDescription == "An unexpected error occurred. Please try again.")
  }

  @Test func aBodyThatIsNotUTF8SaysUnknownError() throws {
    for body in [Data([0xFF, 0xFE]), Data(repeating: 0x80, count: 2_000)] {
      let result = try StandardAPIResponse<Session>.decode(from: body, statusCode: 418)
      #expect(result == .failure(.unknownError(418, "Unknown error")))
    }
  }

  @Test func hostileEnvelopeTextIsBoundedAndEscaped() throws {
    let marks = "\u{1B}]0;x\u{7}\u{202E}\0"
    let hostile = marks + String(repeating: "<b>", count: 400_000)
    let sent = ErrorResponse(
      error: .init(
        code: hostile, message: hostile, correlationId: hostile,
        validationErrors: Array(repeating: .init(field: marks, message: marks), count: 100)))
    let body = try JSONEncoder.apiEncoder.encode(sent)
    let failure = try #require(
      try StandardAPIResponse<Session>.decodeDetailed(from: body, statusCode: 400).failure)
    #expect(failure.code == nil)
    #expect(failure.correlationId == nil)
    #expect(failure.validationErrors.count == 64)
    let texts =
      failure.validationErrors.flatMap { [$0.field, $0.message] }
      + [failure.message ?? "", failure.localizedDescription]
    for text in texts {
      #expect(text.utf8.count < 8_192)
      #expect(!text.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
    }
  }

  @Test func anEmptyBodyIsASuccessWhereNothingIsExpected() throws {
    let nothing = try StandardAPIResponse<NoContent>.decode(from: Data(), statusCode: 204)
    #expect(try nothing.get() == NoContent())
    #expect(throws: DecodingError.self) {
      try StandardAPIResponse<Session>.decode(from: Data(), statusCode: 204)
    }
  }

  @Test func aTypeThatRefusesItsBodyFailsToDecode() throws {
    let body = Data("{}".utf8)
    let error = #expect(throws: DecodingError.self) {
      try StandardAPIResponse<Picky>.decode(from: body, statusCode: 200)
    }
    guard case .dataCorrupted(let context) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.underlyingError as? AppError == .cancelled)
  }

  @Test func datesAreISO8601() throws {
    let body = Data(#"["2025-10-07T12:00:00Z"]"#.utf8)
    let result = try StandardAPIResponse<[Date]>.decode(from: body, statusCode: 200)
    #expect(try result.get() == [Date(timeIntervalSince1970: 1_759_838_400)])
    #expect(try JSONEncoder.apiEncoder.encode(result.get()) == body)
  }
}

/// A success type with an opinion of its own.
private struct Picky: Decodable {
  init(from decoder: any Decoder) throws { throw AppError.cancelled }
}

extension Result {
  fileprivate var failure: Failure? {
    guard case .failure(let failure) = self else { return nil }
    return failure
  }
}
