/// Every way a bridge operation can fail, as one flat vocabulary.
///
/// The first 52 cases and their texts come from the product's error specification (S1-01…S1-52 in
/// `docs/seeds.md`); the others were added by the runtime. The texts, options and exit code of
/// a case are one row of the catalogue; `Mapping/` decides what a native failure becomes.
public enum AppError: Error, Sendable, Hashable {
  // Network
  /// No network connectivity available.
  case networkUnavailable
  /// Request timed out after specified duration.
  case timeout(seconds: Int)
  /// Server returned an error status.
  case serverError(status: Int, message: String?)
  /// SSL/TLS certificate validation failed.
  case sslError(description: String)
  /// DNS resolution failed for host.
  case dnsError(host: String)

  // WebSocket
  /// WebSocket connection failed.
  case webSocketConnectionFailed(reason: String)
  /// WebSocket disconnected unexpectedly.
  case webSocketDisconnected(code: Int?, reason: String?)
  /// WebSocket message parsing failed.
  case webSocketMessageInvalid(detail: String)
  /// WebSocket ping timeout - connection may be dead.
  case webSocketPingTimeout

  // API
  /// API endpoint not found (404).
  case apiNotFound(endpoint: String)
  /// API request was malformed (400).
  case apiBadRequest(message: String)
  /// API authentication failed (401).
  case apiUnauthorized
  /// API rate limit exceeded (429).
  case apiRateLimited(retryAfter: Int?)
  /// API response could not be decoded.
  case apiDecodingError(type: String, detail: String)
  /// API response missing required field.
  case apiMissingField(field: String)

  // Agent
  /// Agent is already processing a request.
  case agentBusy
  /// Agent creation failed.
  case agentCreationFailed(reason: String)
  /// Agent was aborted by user.
  case agentAborted
  /// Agent encountered an error during execution.
  case agentExecutionError(message: String)
  /// Agent session not found.
  case agentSessionNotFound(sessionId: String)
  /// Agent model not available.
  case agentModelUnavailable(model: String)

  // Permissions
  /// Permission was denied by user.
  case permissionDenied(tool: String)
  /// Permission request timed out.
  case permissionTimeout(tool: String, seconds: Int)
  /// Permission system unavailable.
  case permissionSystemError(detail: String)

  // SSH
  /// SSH connection failed.
  case sshConnectionFailed(host: String, reason: String)
  /// SSH authentication failed.
  case sshAuthenticationFailed(method: String)
  /// SSH command execution failed.
  case sshCommandFailed(command: String, exitCode: Int, stderr: String?)
  /// SSH connection timed out.
  case sshTimeout(seconds: Int)
  /// SSH key is invalid or unsupported.
  case sshKeyInvalid(reason: String)
  /// SSH host key verification failed.
  case sshHostKeyMismatch(host: String)

  // File System
  /// File not found at path.
  case fileNotFound(path: String)
  /// File could not be read.
  case fileReadError(path: String, reason: String)
  /// File could not be written.
  case fileWriteError(path: String, reason: String)
  /// Insufficient disk space.
  case insufficientDiskSpace(required: Int64, available: Int64)
  /// File permission denied.
  case filePermissionDenied(path: String)

  // Persistence
  /// Data encoding failed.
  case encodingError(type: String, detail: String)
  /// Data decoding failed.
  case decodingError(type: String, detail: String)
  /// Database operation failed.
  case databaseError(operation: String, detail: String)
  /// Migration failed.
  case migrationError(from: Int, to: Int, reason: String)

  // Validation
  /// Input validation failed.
  case validationError(field: String, message: String)
  /// URL is malformed.
  case invalidURL(string: String)
  /// Project path is invalid.
  case invalidProjectPath(path: String)

  // Session
  /// Session not found.
  case sessionNotFound(id: String)
  /// Session is archived.
  case sessionArchived(id: String)
  /// Session export failed.
  case sessionExportFailed(reason: String)
  /// Session search failed.
  case sessionSearchFailed(query: String, reason: String)

  // Project
  /// Project not found.
  case projectNotFound(path: String)
  /// Project clone failed.
  case projectCloneFailed(url: String, reason: String)
  /// Project already exists.
  case projectAlreadyExists(path: String)

  // General
  /// Unknown error with message.
  case unknown(message: String)
  /// Internal error that shouldn't happen.
  case internalError(detail: String)
  /// Feature not available in current configuration.
  case featureUnavailable(feature: String)

  // Added by the runtime
  /// The host's key is not in any known_hosts file, so it is not verified. `fingerprint` is
  /// `SHA256:…`.
  case sshHostKeyUnknown(host: String, fingerprint: String)
  /// The server throttles (MaxStartups, PerSourcePenalties, disconnect reason 12); `retryAfter` in
  /// seconds.
  case sshServerBusy(host: String, retryAfter: Int?)
  /// The link or the channel ended before the command's exit status came; it may or may not have
  /// run.
  case sshOutcomeUnknown(command: String)
  /// Client and server share no algorithm of some kind; `detail` names the kind and both lists.
  case sshAlgorithmMismatch(host: String, detail: String)
  /// The peer does not speak SSH, or broke the protocol.
  case sshProtocolError(host: String, detail: String)
  /// No such durable session on the host, or what was kept of it was removed.
  case durableSessionNotFound(host: String, id: String)
  /// The id of a durable session is in use for another program, or for another run of it.
  case durableSessionConflict(host: String, id: String)
  /// Another client became the writer of a durable session; `by` names it, empty where unknown.
  case durableSessionReplaced(host: String, by: String)
  /// As many clients are attached to a durable session as it takes, and all of them live.
  case durableSessionFull(host: String)
  /// Requested output of a durable session is no longer kept: from `from` to below `to`.
  case durableSessionGap(from: UInt64, to: UInt64)
  /// A durable session has no recorded end: its keeper died, or the machine was restarted. `reason`
  /// says which; its output is kept.
  case durableSessionOutcomeUnknown(host: String, reason: String)
  /// `bridge-host` is not there, is of another version, or cannot be used.
  case durableSessionHostUnusable(host: String, reason: String)
  /// A store of an agent host cannot be used; `problem` says whether it may be later by itself.
  case storeUnusable(store: String, problem: StoreProblem)
  /// Another agent host carries the agent; `by` names it, empty where the agent has none now.
  case agentTakenOver(agent: String, by: String)
  /// The caller canceled. Never shown, queued, retried, or logged above debug.
  case cancelled
}
