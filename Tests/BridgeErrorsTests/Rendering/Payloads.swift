import BridgeErrors
import Foundation

/// One value of every case that carries text, with `text` in every payload.
func errors(carrying text: String) -> [AppError] {
  [
    .serverError(status: 500, message: text), .sslError(description: text), .dnsError(host: text),
    .webSocketConnectionFailed(reason: text), .webSocketDisconnected(code: nil, reason: text),
    .webSocketMessageInvalid(detail: text), .apiNotFound(endpoint: text),
    .apiBadRequest(message: text), .apiDecodingError(type: text, detail: text),
    .apiMissingField(field: text), .agentCreationFailed(reason: text),
    .agentExecutionError(message: text), .agentSessionNotFound(sessionId: text),
    .agentModelUnavailable(model: text), .permissionDenied(tool: text),
    .permissionTimeout(tool: text, seconds: 1), .permissionSystemError(detail: text),
    .sshConnectionFailed(host: text, reason: text), .sshAuthenticationFailed(method: text),
    .sshCommandFailed(command: text, exitCode: 1, stderr: text), .sshKeyInvalid(reason: text),
    .sshHostKeyMismatch(host: text), .fileNotFound(path: text),
    .fileReadError(path: text, reason: text), .fileWriteError(path: text, reason: text),
    .filePermissionDenied(path: text), .encodingError(type: text, detail: text),
    .decodingError(type: text, detail: text), .databaseError(operation: text, detail: text),
    .migrationError(from: 1, to: 2, reason: text), .validationError(field: text, message: text),
    .invalidURL(string: text), .invalidProjectPath(path: text), .sessionNotFound(id: text),
    .sessionArchived(id: text), .sessionExportFailed(reason: text),
    .sessionSearchFailed(query: text, reason: text), .projectNotFound(path: text),
    .projectCloneFailed(url: text, reason: text), .projectAlreadyExists(path: text),
    .unknown(message: text), .internalError(detail: text), .featureUnavailable(feature: text),
    .sshHostKeyUnknown(host: text, fingerprint: text), .sshServerBusy(host: text, retryAfter: nil),
    .sshOutcomeUnknown(command: text), .sshAlgorithmMismatch(host: text, detail: text),
    .sshProtocolError(host: text, detail: text), .durableSessionNotFound(host: text, id: text),
    .durableSessionConflict(host: text, id: text), .durableSessionReplaced(host: text, by: text),
    .durableSessionFull(host: text), .durableSessionOutcomeUnknown(host: text, reason: text),
    .durableSessionHostUnusable(host: text, reason: text),
    .storeUnusable(store: text, problem: .unavailable(reason: text)),
    .agentTakenOver(agent: text, by: text),
  ]
}

/// Every failure that carries a peer's text, with `text` in every place.
func failures(carrying text: String) -> [ConnectionError] {
  let seen: [SSHFailure.Observation?] = [
    nil, .notSSH(seen: text, location: nil), .notSSH(seen: text, location: text),
    .algorithmMismatch(detail: text), .hostKeyUnknown(fingerprint: text),
    .hostKeyChanged(detail: text), .hostKeyRevoked(detail: text),
    .hostKeyNewType(fingerprint: text, detail: text),
    .keyUnusable(reason: text), .agentUnavailable(reason: text),
    .channelRefused(reason: 1), .noExitStatus(command: text), .outputLost(detail: text),
    .versionLineTooLong(line: text),
  ]
  let ssh = [-16, -34, -43].flatMap { code in
    seen.map { observation in
      SSHFailure(
        code: .init(rawValue: code), message: text, phase: .authenticate, host: text,
        observation: observation, preBanner: text, method: text
      ).typed
    }
  }
  let web: [WebSocketFailure.Observation] = [
    .nameUnknown, .refusedUpgrade(status: 500, retryAfter: nil, message: text, location: text),
    .refusedUpgrade(status: 302, retryAfter: nil, message: text, location: text),
    .notWebSocket(seen: text, location: nil), .notWebSocket(seen: text, location: text),
    .notProxy(seen: text, location: text),
    .refusedTunnel(status: 403, reason: text, retryAfter: nil, sentCredentials: false),
    .closed(code: 1011, reason: text), .invalidMessage(detail: text),
    .internalFault(detail: text),
  ]
  return ssh
    + web.flatMap { seen in
      [nil, text].map { proxy in
        WebSocketFailure(observation: seen, phase: .upgrade, host: text, proxy: proxy).typed
      }
    }
}

/// Every text that leaves the runtime for an error: screen, page, log line and metadata.
func texts(of error: AppError, _ context: FailureContext? = nil) -> [String] {
  let shown = PresentedError(error: error, source: context?.host, attempts: 1, context: context)
  let hints = [error.hint, error.hint(in: context), error.recoverySuggestion].compactMap { $0 }
  let own = [
    error.title, error.userMessage, error.localizedDescription, error.caseName, shown.message,
    error.shownMessage(in: context), TerminalBanner.render(shown, color: false),
    TerminalBanner.render(error, color: false, unicode: false), WebBanner.render(shown),
    WebBanner.render(error),
  ]
  return own + hints + TerminalBanner.lastLines(error, context: context)
    + error.logMetadata.values + [context?.native?.text, context?.detail].compactMap { $0 }
}
