import BridgeErrors
import Foundation
import Testing

private struct Stranger: Error, LocalizedError {
  var errorDescription: String? { "connect ECONNREFUSED 192.168.1.100:5432" }
}

private struct OwnError: EnvelopeError {
  var envelopeStatus = 402
  var envelopeCode = "OUT_OF_CREDIT"
  var envelopeMessage = "Buy more."
}

/// Every case with its status and code: a contract with clients.
private let rows: [(AppError, Int, String)] = [
  (.networkUnavailable, 503, "NETWORK_UNAVAILABLE"), (.timeout(seconds: 1), 504, "TIMEOUT"),
  (.serverError(status: 403, message: nil), 403, "SERVER_ERROR"),
  (.serverError(status: 0, message: nil), 502, "SERVER_ERROR"),
  (.sslError(description: "d"), 502, "SSL_ERROR"), (.dnsError(host: "h"), 502, "DNS_ERROR"),
  (.webSocketConnectionFailed(reason: "r"), 502, "WEB_SOCKET_CONNECTION_FAILED"),
  (.webSocketDisconnected(code: 1, reason: "r"), 502, "WEB_SOCKET_DISCONNECTED"),
  (.webSocketMessageInvalid(detail: "d"), 400, "WEB_SOCKET_MESSAGE_INVALID"),
  (.webSocketPingTimeout, 504, "WEB_SOCKET_PING_TIMEOUT"),
  (.apiNotFound(endpoint: "e"), 404, "API_NOT_FOUND"),
  (.apiBadRequest(message: "m"), 400, "API_BAD_REQUEST"),
  (.apiUnauthorized, 401, "INVALID_CREDENTIALS"),
  (.apiRateLimited(retryAfter: 7), 429, "RATE_LIMITED"),
  (.apiDecodingError(type: "t", detail: "d"), 502, "API_DECODING_ERROR"),
  (.apiMissingField(field: "f"), 502, "API_MISSING_FIELD"), (.agentBusy, 409, "AGENT_BUSY"),
  (.agentCreationFailed(reason: "r"), 500, "AGENT_CREATION_FAILED"),
  (.agentAborted, 409, "AGENT_ABORTED"),
  (.agentExecutionError(message: "m"), 500, "AGENT_EXECUTION_ERROR"),
  (.agentSessionNotFound(sessionId: "s"), 404, "AGENT_SESSION_NOT_FOUND"),
  (.agentModelUnavailable(model: "m"), 503, "AGENT_MODEL_UNAVAILABLE"),
  (.permissionDenied(tool: "t"), 403, "PERMISSION_DENIED"),
  (.permissionTimeout(tool: "t", seconds: 1), 403, "PERMISSION_TIMEOUT"),
  (.permissionSystemError(detail: "d"), 500, "PERMISSION_SYSTEM_ERROR"),
  (.sshConnectionFailed(host: "h", reason: "r"), 502, "SSH_CONNECTION_FAILED"),
  (.sshAuthenticationFailed(method: "m"), 502, "SSH_AUTHENTICATION_FAILED"),
  (.sshCommandFailed(command: "c", exitCode: 1, stderr: "e"), 502, "SSH_COMMAND_FAILED"),
  (.sshTimeout(seconds: 1), 504, "SSH_TIMEOUT"),
  (.sshKeyInvalid(reason: "r"), 500, "SSH_KEY_INVALID"),
  (.sshHostKeyMismatch(host: "h"), 502, "SSH_HOST_KEY_MISMATCH"),
  (.fileNotFound(path: "/p/f"), 404, "FILE_NOT_FOUND"),
  (.fileReadError(path: "/p/f", reason: "r"), 500, "FILE_READ_ERROR"),
  (.fileWriteError(path: "/p/f", reason: "r"), 500, "FILE_WRITE_ERROR"),
  (.insufficientDiskSpace(required: 1, available: 0), 507, "INSUFFICIENT_DISK_SPACE"),
  (.filePermissionDenied(path: "/p/f"), 403, "FILE_PERMISSION_DENIED"),
  (.encodingError(type: "t", detail: "d"), 500, "ENCODING_ERROR"),
  (.decodingError(type: "t", detail: "d"), 500, "DECODING_ERROR"),
  (.databaseError(operation: "o", detail: "d"), 500, "DATABASE_ERROR"),
  (.migrationError(from: 1, to: 2, reason: "r"), 500, "MIGRATION_ERROR"),
  (.validationError(field: "f", message: "m"), 400, "VALIDATION_ERROR"),
  (.invalidURL(string: "s"), 400, "INVALID_URL"),
  (.invalidProjectPath(path: "/p"), 400, "INVALID_PROJECT_PATH"),
  (.sessionNotFound(id: "i"), 404, "SESSION_NOT_FOUND"),
  (.sessionArchived(id: "i"), 410, "SESSION_ARCHIVED"),
  (.sessionExportFailed(reason: "r"), 500, "SESSION_EXPORT_FAILED"),
  (.sessionSearchFailed(query: "q", reason: "r"), 500, "SESSION_SEARCH_FAILED"),
  (.projectNotFound(path: "/p"), 404, "PROJECT_NOT_FOUND"),
  (.projectCloneFailed(url: "u", reason: "r"), 502, "PROJECT_CLONE_FAILED"),
  (.projectAlreadyExists(path: "/p"), 409, "PROJECT_ALREADY_EXISTS"),
  (.unknown(message: "m"), 500, "INTERNAL_ERROR"),
  (.internalError(detail: "d"), 500, "INTERNAL_ERROR"),
  (.featureUnavailable(feature: "f"), 501, "FEATURE_UNAVAILABLE"),
  (.sshHostKeyUnknown(host: "h", fingerprint: "f"), 502, "SSH_HOST_KEY_UNKNOWN"),
  (.sshServerBusy(host: "h", retryAfter: 7), 503, "SSH_SERVER_BUSY"),
  (.sshOutcomeUnknown(command: "c"), 502, "SSH_OUTCOME_UNKNOWN"),
  (.sshAlgorithmMismatch(host: "h", detail: "d"), 502, "SSH_ALGORITHM_MISMATCH"),
  (.sshProtocolError(host: "h", detail: "d"), 502, "SSH_PROTOCOL_ERROR"),
  (.durableSessionNotFound(host: "h", id: "i"), 404, "DURABLE_SESSION_NOT_FOUND"),
  (.durableSessionConflict(host: "h", id: "i"), 409, "DURABLE_SESSION_CONFLICT"),
  (.durableSessionFull(host: "h"), 503, "DURABLE_SESSION_FULL"),
  (.durableSessionReplaced(host: "h", by: "c"), 409, "DURABLE_SESSION_REPLACED"),
  (.durableSessionGap(from: 1, to: 2), 410, "DURABLE_SESSION_GAP"),
  (
    .durableSessionOutcomeUnknown(host: "h", reason: "r"), 502,
    "DURABLE_SESSION_OUTCOME_UNKNOWN"
  ),
  (.durableSessionHostUnusable(host: "h", reason: "r"), 502, "DURABLE_SESSION_HOST_UNUSABLE"),
  (.storeUnusable(store: "s", problem: .inUse), 503, "STORE_UNUSABLE"),
  (.agentTakenOver(agent: "a", by: "h"), 409, "AGENT_TAKEN_OVER"),
  (.cancelled, 499, "CANCELLED"),
]

@Suite struct ErrorEnvelopeTests {
  @Test func theTableIsWhole() {
    #expect(Set(rows.map(\.0.caseName)).count == 67)
  }

  @Test(arguments: rows.indices)
  func everyCaseHasItsStatusAndCode(index: Int) {
    let (error, status, code) = rows[index]
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: "r-1")
    #expect(out.status == status)
    #expect(out.envelope.error.code == code)
    #expect(out.envelope.error.correlationId == "r-1")
    #expect(
      out.envelope.error.message
        == (status < 500 ? error.userMessage : "Operation failed. Please try again."))
  }

  @Test(arguments: rows.indices)
  func codesAreTheCaseNamesInCapitalsButForAFew(index: Int) {
    let (error, _, code) = rows[index]
    let exceptions: Set = [
      "apiUnauthorized", "apiRateLimited", "unknown", "internalError", "invalidURL",
    ]
    guard !exceptions.contains(error.caseName) else { return }
    let words = error.caseName.reduce(into: "") { word, character in
      word += character.isUppercase ? "_" + character.lowercased() : String(character)
    }
    #expect(code == words.uppercased())
  }

  @Test(arguments: rows.indices)
  func whatGoesOutIsReadBackByTheClient(index: Int) throws {
    let (error, _, code) = rows[index]
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: "r-1")
    let data = try JSONEncoder.apiEncoder.encode(out.envelope)
    #expect(try JSONDecoder.apiDecoder.decode(ErrorResponse.self, from: data) == out.envelope)
    let failure = try #require(
      StandardAPIResponse<NoContent>.failure(in: data, statusCode: out.status))
    #expect(failure.status == out.status)
    #expect(failure.code == code)
    #expect(failure.correlationId == "r-1")
    #expect(failure.message == out.envelope.error.message)
    #expect(failure.error.isRetryable == (out.status >= 500))
    #expect(failure.error.requiresReauth == (error == .apiUnauthorized))
    let again = ErrorEnvelope.outgoing(for: failure, correlationHeader: "r-1")
    #expect(again.status == out.status)
    #expect(again.envelope.error.code == code)
  }

  @Test func aLimitIsNamedAsOneOfSigningInOnAccountRoutes() {
    let out = ErrorEnvelope.outgoing(
      for: AppError.apiRateLimited(retryAfter: 7), correlationHeader: nil, route: .account)
    #expect(out.status == 429)
    #expect(out.envelope.error.code == "TOO_MANY_AUTH_ATTEMPTS")
    #expect(ErrorEnvelope.retryAfter(for: AppError.apiRateLimited(retryAfter: 7)) == 7)
    let busy = AppError.sshServerBusy(host: "h", retryAfter: 8)
    #expect(ErrorEnvelope.retryAfter(for: busy) == 8)
    let failure = APIFailure(error: .forbidden, status: 429, retryAfter: 9)
    #expect(ErrorEnvelope.retryAfter(for: failure) == 9)
    #expect(ErrorEnvelope.retryAfter(for: Stranger()) == nil)
  }

  @Test func anUntypedErrorSaysNothing() {
    let out = ErrorEnvelope.outgoing(for: Stranger(), correlationHeader: "r-1")
    #expect(out.status == 500)
    #expect(
      out.envelope
        == ErrorResponse(
          error: .init(
            code: "INTERNAL_ERROR", message: "An unexpected error occurred", correlationId: "r-1")))
  }

  @Test func aHostsOwnErrorSaysWhatItSays() {
    let own = ErrorEnvelope.outgoing(for: OwnError(), correlationHeader: nil)
    #expect(own.status == 402)
    #expect(own.envelope.error.code == "OUT_OF_CREDIT")
    #expect(own.envelope.error.message == "Buy more.")
    let broken = ErrorEnvelope.outgoing(
      for: OwnError(envelopeStatus: 200, envelopeCode: "no code"), correlationHeader: nil)
    #expect(broken.status == 500)
    #expect(broken.envelope.error.code == "INTERNAL_ERROR")
  }

  @Test func secureErrorsKeepTheirTexts() {
    let refused = ErrorEnvelope.outgoing(
      for: SecureError.authenticationFailed, correlationHeader: nil)
    #expect(refused.status == 401)
    #expect(refused.envelope.error.code == "INVALID_CREDENTIALS")
    #expect(refused.envelope.error.message == "Invalid email or password.")
    let failed = ErrorEnvelope.outgoing(for: SecureError.operationFailed, correlationHeader: nil)
    #expect(failed.status == 500)
    #expect(failed.envelope.error.message == "Operation failed. Please try again.")
  }

  @Test(arguments: [
    (APIError.networkError, 502, "NETWORK_ERROR"), (.unauthorized, 401, "INVALID_CREDENTIALS"),
    (.forbidden, 403, "FORBIDDEN"), (.notFound, 404, "NOT_FOUND"),
    (.serverError(503), 503, "INTERNAL_ERROR"), (.serverError(0), 500, "INTERNAL_ERROR"),
    (.decodingError, 502, "DECODING_ERROR"), (.encodingError, 400, "ENCODING_ERROR"),
    (.invalidURL, 400, "INVALID_URL"), (.requestTimeout, 504, "REQUEST_TIMEOUT"),
    (.noInternetConnection, 502, "NO_INTERNET_CONNECTION"),
    (.badRequest("m"), 400, "VALIDATION_ERROR"), (.conflict("m"), 409, "CONFLICT"),
    (.unknownError(418, "x"), 418, "UNKNOWN_ERROR"), (.unknownError(0, "x"), 502, "UNKNOWN_ERROR"),
  ])
  func anErrorOfTheClientIsPassedOn(error: APIError, status: Int, code: String) {
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil)
    #expect(out.status == status)
    #expect(out.envelope.error.code == code)
  }

  @Test func aFailureWithoutAStatusIsABadGateway() {
    let out = ErrorEnvelope.outgoing(
      for: APIFailure(error: .networkError), correlationHeader: nil)
    #expect(out.status == 502)
    #expect(out.envelope.error.code == "UNKNOWN_ERROR")
    let gone = ErrorEnvelope.outgoing(for: APIFailure.cancelled, correlationHeader: nil)
    #expect(gone.status == 499)
    #expect(gone.envelope.error.code == "CANCELLED")
  }

  @Test func fieldErrorsAreSent() {
    let error = AppError.validationError(field: "email", message: "Enter a valid email.")
    let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil)
    #expect(
      out.envelope.error.validationErrors
        == [.init(field: "email", message: "Enter a valid email.")])
    let none = ErrorEnvelope.outgoing(for: AppError.agentBusy, correlationHeader: nil)
    #expect(none.envelope.error.validationErrors == nil)
  }

  @Test func aHarmfulCorrelationHeaderIsReplaced() {
    let out = ErrorEnvelope.outgoing(for: AppError.agentBusy, correlationHeader: "a\r\nb: c")
    #expect(out.envelope.error.correlationId?.count == 36)
  }

  @Test func noSecretLeavesInAnEnvelope() throws {
    let canaries = [
      "hunter2canary", "sk-canary-token-123456", "ann.canary@example.com", "192.168.1.100",
    ]
    let said =
      "postgres://admin:hunter2canary@192.168.1.100/db ann.canary@example.com "
      + "Authorization: Bearer sk-canary-token-123456"
    for error in planted(said) {
      let out = ErrorEnvelope.outgoing(for: error, correlationHeader: nil)
      let text = String(decoding: try JSONEncoder.apiEncoder.encode(out.envelope), as: UTF8.self)
      for canary in canaries.prefix(out.status < 500 ? 3 : 4) {
        #expect(!text.contains(canary), "\(error.caseName): \(text)")
      }
    }
  }

  /// The errors whose payload comes from a peer and may leave below status 500.
  private func planted(_ said: String) -> [AppError] {
    [
      .serverError(status: 403, message: said), .apiBadRequest(message: said),
      .validationError(field: "url", message: said), .invalidURL(string: said),
      .webSocketMessageInvalid(detail: said), .fileNotFound(path: said),
      .serverError(status: 500, message: said), .databaseError(operation: "read", detail: said),
      .sshCommandFailed(command: said, exitCode: 1, stderr: said), .unknown(message: said),
      .internalError(detail: said), .sshConnectionFailed(host: "192.168.1.100", reason: said),
    ]
  }
}
