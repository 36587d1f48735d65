/// What a host answers with when something failed: one status and one envelope for every error,
/// over HTTP and WebSocket alike (S4-34…S4-41).
public enum ErrorEnvelope {
  /// The text for an error that is not one of ours (S4-38).
  static let untypedMessage = "An unexpected error occurred"
  /// Its code (S4-37).
  static let untypedCode = "INTERNAL_ERROR"

  /// Which part of the host answers; only sign-in routes name their limit as such (G-37).
  public enum Route: Sendable, Hashable {
    /// A route of the account: signing in, signing up, resetting.
    case account
    /// Any other route.
    case other
  }

  /// Status and envelope for `error`.
  ///
  /// A typed error gives its own code and text, from status 500 on the text of
  /// `SecureError.operationFailed` instead; any other error is a 500 without details (G-33). The
  /// correlation id is the request's where it is harmless, else the current task's, else a new one.
  public static func outgoing(
    for error: any Error, correlationHeader: String?, route: Route = .other
  ) -> (status: Int, envelope: ErrorResponse) {
    let id = CorrelationID.accepted(from: correlationHeader)
    guard let known = typed(error, route) else {
      let body = ErrorResponse.Body(
        code: untypedCode, message: untypedMessage, correlationId: id.description)
      return (500, ErrorResponse(error: body))
    }
    let status = (400...599).contains(known.status) ? known.status : 500
    let body = ErrorResponse.Body(
      code: APIText.code(known.code) ?? untypedCode,
      message: status < 500 ? APIText.shown(known.message) : secureMessage,
      correlationId: id.description,
      validationErrors: known.validationErrors.isEmpty ? nil : known.validationErrors)
    return (status, ErrorResponse(error: body))
  }

  private static let secureMessage = SecureError.operationFailed.envelopeMessage

  private struct Typed {
    var status: Int
    var code: String
    var message: String
    var validationErrors: [ErrorResponse.ValidationError]
  }

  private static func typed(_ error: any Error, _ route: Route) -> Typed? {
    switch error {
    case let error as AppError:
      let (status, code) = wireRow(of: error, on: route)
      return Typed(
        status: status, code: code, message: error.userMessage, validationErrors: fields(of: error))
    case let error as any EnvelopeError:
      return Typed(
        status: error.envelopeStatus, code: error.envelopeCode, message: error.envelopeMessage,
        validationErrors: error.envelopeValidationErrors.prefix(ErrorResponse.validationErrorLimit)
          .map { .init(field: APIText.peer($0.field), message: APIText.peer($0.message)) })
    default:
      return nil
    }
  }

  private static func fields(of error: AppError) -> [ErrorResponse.ValidationError] {
    guard case .validationError(let field, let message) = error else { return [] }
    return [.init(field: APIText.peer(field), message: APIText.peer(message))]
  }
}

extension ErrorEnvelope {
  /// Status and code of every `AppError` on the wire (G-37): a contract with clients, so each code
  /// is written out and outlives the case's name.
  ///
  /// 401 is kept for the client's own credentials: an SSH host that refuses ours is a 502. 499 is
  /// nginx's "client closed request".
  static func wireRow(of error: AppError, on route: Route) -> (status: Int, code: String) {
    switch error {
    case .networkUnavailable: (503, "NETWORK_UNAVAILABLE")
    case .timeout: (504, "TIMEOUT")
    case .serverError(let status, _): (upstream(status), "SERVER_ERROR")
    case .sslError: (502, "SSL_ERROR")
    case .dnsError: (502, "DNS_ERROR")
    case .webSocketConnectionFailed: (502, "WEB_SOCKET_CONNECTION_FAILED")
    case .webSocketDisconnected: (502, "WEB_SOCKET_DISCONNECTED")
    case .webSocketMessageInvalid: (400, "WEB_SOCKET_MESSAGE_INVALID")
    case .webSocketPingTimeout: (504, "WEB_SOCKET_PING_TIMEOUT")
    case .apiNotFound: (404, "API_NOT_FOUND")
    case .apiBadRequest: (400, "API_BAD_REQUEST")
    case .apiUnauthorized: (401, "INVALID_CREDENTIALS")
    case .apiRateLimited:
      (429, route == .account ? "TOO_MANY_AUTH_ATTEMPTS" : "RATE_LIMITED")
    case .apiDecodingError: (502, "API_DECODING_ERROR")
    case .apiMissingField: (502, "API_MISSING_FIELD")
    case .agentBusy: (409, "AGENT_BUSY")
    case .agentCreationFailed: (500, "AGENT_CREATION_FAILED")
    case .agentAborted: (409, "AGENT_ABORTED")
    case .agentExecutionError: (500, "AGENT_EXECUTION_ERROR")
    case .agentSessionNotFound: (404, "AGENT_SESSION_NOT_FOUND")
    case .agentModelUnavailable: (503, "AGENT_MODEL_UNAVAILABLE")
    case .permissionDenied: (403, "PERMISSION_DENIED")
    case .permissionTimeout: (403, "PERMISSION_TIMEOUT")
    case .permissionSystemError: (500, "PERMISSION_SYSTEM_ERROR")
    case .sshConnectionFailed: (502, "SSH_CONNECTION_FAILED")
    case .sshAuthenticationFailed: (502, "SSH_AUTHENTICATION_FAILED")
    case .sshCommandFailed: (502, "SSH_COMMAND_FAILED")
    case .sshTimeout: (504, "SSH_TIMEOUT")
    case .sshKeyInvalid: (500, "SSH_KEY_INVALID")
    case .sshHostKeyMismatch: (502, "SSH_HOST_KEY_MISMATCH")
    case .fileNotFound: (404, "FILE_NOT_FOUND")
    case .fileReadError: (500, "FILE_READ_ERROR")
    case .fileWriteError: (500, "FILE_WRITE_ERROR")
    case .insufficientDiskSpace: (507, "INSUFFICIENT_DISK_SPACE")
    case .filePermissionDenied: (403, "FILE_PERMISSION_DENIED")
    case .encodingError: (500, "ENCODING_ERROR")
    case .decodingError: (500, "DECODING_ERROR")
    case .databaseError: (500, "DATABASE_ERROR")
    case .migrationError: (500, "MIGRATION_ERROR")
    case .validationError: (400, "VALIDATION_ERROR")
    case .invalidURL: (400, "INVALID_URL")
    case .invalidProjectPath: (400, "INVALID_PROJECT_PATH")
    case .sessionNotFound: (404, "SESSION_NOT_FOUND")
    case .sessionArchived: (410, "SESSION_ARCHIVED")
    case .sessionExportFailed: (500, "SESSION_EXPORT_FAILED")
    case .sessionSearchFailed: (500, "SESSION_SEARCH_FAILED")
    case .projectNotFound: (404, "PROJECT_NOT_FOUND")
    case .projectCloneFailed: (502, "PROJECT_CLONE_FAILED")
    case .projectAlreadyExists: (409, "PROJECT_ALREADY_EXISTS")
    case .unknown, .internalError: (500, "INTERNAL_ERROR")
    case .featureUnavailable: (501, "FEATURE_UNAVAILABLE")
    case .sshHostKeyUnknown: (502, "SSH_HOST_KEY_UNKNOWN")
    case .sshServerBusy: (503, "SSH_SERVER_BUSY")
    case .sshOutcomeUnknown: (502, "SSH_OUTCOME_UNKNOWN")
    case .sshAlgorithmMismatch: (502, "SSH_ALGORITHM_MISMATCH")
    case .sshProtocolError: (502, "SSH_PROTOCOL_ERROR")
    case .durableSessionNotFound: (404, "DURABLE_SESSION_NOT_FOUND")
    case .durableSessionConflict: (409, "DURABLE_SESSION_CONFLICT")
    case .durableSessionFull: (503, "DURABLE_SESSION_FULL")
    case .durableSessionReplaced: (409, "DURABLE_SESSION_REPLACED")
    case .durableSessionGap: (410, "DURABLE_SESSION_GAP")
    case .durableSessionOutcomeUnknown: (502, "DURABLE_SESSION_OUTCOME_UNKNOWN")
    case .durableSessionHostUnusable: (502, "DURABLE_SESSION_HOST_UNUSABLE")
    case .storeUnusable: (503, "STORE_UNUSABLE")
    case .agentTakenOver: (409, "AGENT_TAKEN_OVER")
    case .cancelled: (499, "CANCELLED")
    }
  }

  private static func upstream(_ status: Int) -> Int {
    (400...599).contains(status) ? status : 502
  }

  /// The seconds for a `Retry-After` header beside the envelope; nil where none are known.
  public static func retryAfter(for error: any Error) -> Int? {
    switch error {
    case AppError.apiRateLimited(let seconds), AppError.sshServerBusy(_, let seconds): seconds
    case let failure as APIFailure: failure.retryAfter
    default: nil
    }
  }
}
