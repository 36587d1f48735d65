import BridgeErrors

let defaultMessage = "An unexpected error occurred. Please try again."

/// One row of the specification's tables, with the runtime's columns beside it.
struct CatalogueExpectation: Sendable {
  let error: AppError
  let title: String
  let message: String
  let options: [ErrorRecoveryOption.Kind]
  let icon: String
  let severity: ErrorSeverity
  let metadata: [String: String]
  let automatic: RetryClass
  let exit: Int32
  let tool: ToolErrorClassification

  init(
    _ error: AppError, _ title: String = "Error", _ message: String = defaultMessage,
    _ options: [ErrorRecoveryOption.Kind] = [.dismiss],
    icon: String = "exclamationmark.circle", severity: ErrorSeverity = .error,
    metadata: [String: String] = [:], automatic: RetryClass = .needsPerson, exit: Int32 = 70,
    tool: ToolErrorClassification = .unknown
  ) {
    self.error = error
    self.title = title
    self.message = message
    self.options = options
    self.icon = icon
    self.severity = severity
    self.metadata = metadata
    self.automatic = automatic
    self.exit = exit
    self.tool = tool
  }
}

private typealias Row = CatalogueExpectation

private let antenna = "antenna.radiowaves.left.and.right.slash"

private let network: [Row] = [
  Row(
    .networkUnavailable, "No Connection", "Check your internet connection and try again.",
    [.openSettings, .retry], icon: "wifi.slash", severity: .warning,
    automatic: .repeatOperation, exit: 69, tool: .network),
  Row(
    .timeout(seconds: 1), "Request Timeout",
    "The request took longer than 1 seconds. Please try again.", [.retry, .cancel],
    icon: "clock.badge.exclamationmark", automatic: .repeatOperation, exit: 124, tool: .network),
  Row(
    .serverError(status: 503, message: "down"), "Server Error", "Server returned error 503: down",
    [.retry, .cancel], icon: "server.rack", metadata: ["http_status": "503"],
    automatic: .repeatOperation, exit: 75, tool: .network),
  Row(
    .serverError(status: 403, message: nil), "Server Error",
    "The server encountered an error (403). Please try again later.", [.retry, .cancel],
    icon: "server.rack", metadata: ["http_status": "403"], exit: 77, tool: .network),
  Row(.sslError(description: "bad"), exit: 79, tool: .network),
  Row(.dnsError(host: "h"), automatic: .repeatOperation, exit: 68, tool: .network),
  Row(
    .webSocketConnectionFailed(reason: "No."), "Connection Lost",
    "Couldn't connect to the server. No.", [.reconnect, .checkSettings], icon: antenna, exit: 69,
    tool: .network),
  Row(
    .webSocketDisconnected(code: 1001, reason: "bye"), "Connection Lost", "bye",
    [.reconnect, .checkSettings], icon: antenna, severity: .warning, exit: 69, tool: .network),
  Row(
    .webSocketDisconnected(code: nil, reason: nil), "Connection Lost",
    "The connection was lost. Reconnecting...", [.reconnect, .checkSettings], icon: antenna,
    severity: .warning, exit: 69, tool: .network),
  Row(.webSocketMessageInvalid(detail: "d"), exit: 76, tool: .parse),
  Row(.webSocketPingTimeout, exit: 124, tool: .network),
]

private let api: [Row] = [
  Row(.apiNotFound(endpoint: "/e"), exit: 69),
  Row(.apiBadRequest(message: "m")),
  Row(.apiUnauthorized, exit: 77, tool: .permission),
  Row(
    .apiRateLimited(retryAfter: nil), "Error",
    "You've hit the rate limit. Please wait a moment and try again.", exit: 75, tool: .network),
  Row(
    .apiRateLimited(retryAfter: 1), "Error",
    "You've hit the rate limit. Please try again in 1 second.", automatic: .waitThenRepeat,
    exit: 75, tool: .network),
  Row(
    .apiRateLimited(retryAfter: 300), "Error",
    "You've hit the rate limit. Please try again in 300 seconds.", automatic: .waitThenRepeat,
    exit: 75, tool: .network),
  Row(
    .apiRateLimited(retryAfter: 301), "Error",
    "You've hit the rate limit. Please try again in 301 seconds.", exit: 75, tool: .network),
  Row(.apiDecodingError(type: "T", detail: "d"), exit: 76, tool: .parse),
  Row(.apiMissingField(field: "f"), exit: 76, tool: .parse),
]

private let agent: [Row] = [
  Row(
    .agentBusy, "Agent Busy",
    "The agent is still working on your previous request. Please wait for it to finish.",
    [.waitForCompletion, .abort], icon: "hourglass", severity: .info, automatic: .waitThenRepeat),
  Row(.agentCreationFailed(reason: "r")),
  Row(.agentAborted),
  Row(.agentExecutionError(message: "m")),
  Row(.agentSessionNotFound(sessionId: "s")),
  Row(.agentModelUnavailable(model: "m")),
  Row(
    .permissionDenied(tool: "Bash"), "Permission Denied", "Permission to use Bash was denied.",
    [.retryWithPermission, .skipTool], icon: "lock.shield", exit: 77, tool: .permission),
  Row(.permissionTimeout(tool: "Bash", seconds: 5), tool: .permission),
  Row(.permissionSystemError(detail: "d"), tool: .permission),
]

private let ssh: [Row] = [
  Row(
    .sshConnectionFailed(host: "h", reason: "No."), "SSH Error", "Couldn't connect to h. No.",
    [.checkSettings, .retry], icon: "terminal", metadata: ["ssh_host": "h"], exit: 69,
    tool: .network),
  Row(
    .sshAuthenticationFailed(method: "password"), "SSH Error",
    "Authentication failed using password. Check your credentials.", [.checkSettings, .retry],
    icon: "terminal", exit: 77, tool: .permission),
  Row(
    .sshCommandFailed(command: "make", exitCode: 2, stderr: "no rule"), "Error",
    "Command failed with exit code 2. no rule",
    metadata: ["ssh_command": "make", "exit_code": "2"], exit: 2),
  Row(
    .sshCommandFailed(
      command: String(repeating: "é", count: 60), exitCode: 300,
      stderr: String(repeating: "ö", count: 101)),
    "Error", "Command failed with exit code 300. " + String(repeating: "ö", count: 100),
    metadata: ["ssh_command": String(repeating: "é", count: 50), "exit_code": "300"], exit: 255),
  Row(
    .sshCommandFailed(command: "x", exitCode: 1, stderr: ""), "Error",
    "Command failed with exit code 1.", metadata: ["ssh_command": "x", "exit_code": "1"], exit: 1),
  Row(
    .sshCommandFailed(command: "x", exitCode: 0, stderr: nil), "Error",
    "Command failed with exit code 0.", metadata: ["ssh_command": "x", "exit_code": "0"], exit: 1),
  Row(.sshTimeout(seconds: 30), exit: 124, tool: .network),
  Row(.sshTimeout(seconds: 1), exit: 124, tool: .network),
  Row(.sshKeyInvalid(reason: "r"), exit: 65),
  Row(.sshHostKeyMismatch(host: "h"), exit: 79, tool: .network),
]

private let files: [Row] = [
  Row(
    .fileNotFound(path: "/a/b.txt"), "File Not Found", "The file \"b.txt\" doesn't exist.",
    [.browse, .cancel], icon: "doc.questionmark", metadata: ["file_path": "/a/b.txt"], exit: 66),
  Row(
    .fileNotFound(path: ""), "File Not Found", "The file \"\" doesn't exist.",
    [.browse, .cancel], icon: "doc.questionmark", metadata: ["file_path": ""], exit: 66),
  Row(
    .fileNotFound(path: "/"), "File Not Found", "The file \"/\" doesn't exist.",
    [.browse, .cancel], icon: "doc.questionmark", metadata: ["file_path": "/"], exit: 66),
  Row(
    .fileNotFound(path: "a/b%20//"), "File Not Found", "The file \"b%20\" doesn't exist.",
    [.browse, .cancel], icon: "doc.questionmark", metadata: ["file_path": "a/b%20//"], exit: 66),
  Row(
    .fileReadError(path: "/p", reason: "r"), icon: "doc.questionmark",
    metadata: ["file_path": "/p"], exit: 66),
  Row(
    .fileWriteError(path: "/p", reason: "r"), icon: "doc.questionmark",
    metadata: ["file_path": "/p"], exit: 73),
  Row(.insufficientDiskSpace(required: 2, available: 1), exit: 73),
  Row(.filePermissionDenied(path: "/p"), exit: 66, tool: .permission),
  Row(.encodingError(type: "T", detail: "d"), tool: .parse),
  Row(.decodingError(type: "T", detail: "d"), tool: .parse),
  Row(.databaseError(operation: "o", detail: "d")),
  Row(.migrationError(from: 1, to: 2, reason: "r")),
]

private let projects: [Row] = [
  Row(
    .validationError(field: "Password", message: "too short"), "Error", "Password: too short",
    icon: "exclamationmark.triangle", exit: 64),
  Row(.invalidURL(string: "u"), exit: 64),
  Row(.invalidProjectPath(path: "/p"), exit: 64),
  Row(
    .sessionNotFound(id: "0123456789"), "Session Not Found",
    "Session 01234567... was not found. It may have been deleted.",
    metadata: ["session_id": "0123456789"]),
  Row(.sessionArchived(id: "i")),
  Row(.sessionExportFailed(reason: "r")),
  Row(.sessionSearchFailed(query: "q", reason: "r")),
  Row(.projectNotFound(path: "/p"), exit: 66),
  Row(.projectCloneFailed(url: "u", reason: "r")),
  Row(.projectAlreadyExists(path: "/p"), exit: 73),
  Row(.unknown(message: "m")),
  Row(.internalError(detail: "d"), severity: .critical),
  Row(.featureUnavailable(feature: "f"), exit: 78),
]

private let added: [Row] = [
  Row(
    .sshHostKeyUnknown(host: "h", fingerprint: "SHA256:a"), "Unknown Host",
    "The key of h is not known here: SHA256:a. Compare it with the one its owner gives you before"
      + " you accept it.", [.checkSettings, .cancel], icon: "terminal", exit: 79),
  Row(
    .sshServerBusy(host: "h", retryAfter: nil), "Server Busy",
    "h takes no new connections at the moment. Please wait a while.",
    [.waitForCompletion, .cancel], icon: "terminal", exit: 75),
  Row(
    .sshServerBusy(host: "h", retryAfter: 1), "Server Busy",
    "h takes no new connections at the moment. Please wait 1 second.",
    [.waitForCompletion, .cancel], icon: "terminal", exit: 75),
  Row(
    .sshServerBusy(host: "h", retryAfter: 15), "Server Busy",
    "h takes no new connections at the moment. Please wait 15 seconds.",
    [.waitForCompletion, .cancel], icon: "terminal", exit: 75),
  Row(
    .sshOutcomeUnknown(command: "make"), "Outcome Unknown",
    "The connection ended before \"make\" reported its status: it may or may not have run. Check"
      + " on the host before you run it again.", [.reconnect, .dismiss], icon: "terminal",
    exit: 74),
  Row(
    .sshOutcomeUnknown(command: ""), "Outcome Unknown",
    "The connection ended before the command reported its status: it may or may not have run."
      + " Check on the host before you run it again.", [.reconnect, .dismiss], icon: "terminal",
    exit: 74),
  Row(
    .sshAlgorithmMismatch(host: "h", detail: "ciphers: a, b"), "No Common Algorithm",
    "h and this client share no algorithm: ciphers: a, b.", [.checkSettings, .dismiss],
    icon: "terminal", exit: 76),
  Row(
    .sshProtocolError(host: "h", detail: "SSH-1.5"), "Not an SSH Server",
    "h does not speak SSH as it should: SSH-1.5. Check the host and the port.",
    [.checkSettings, .dismiss], icon: "terminal", exit: 76),
  Row(
    .durableSessionNotFound(host: "h", id: "i"), "Session Not Found",
    "h has no session i. One that has ended is kept there for seven days, or until the client "
      + "that started it has all of it.", icon: "terminal",
    metadata: ["session_id": "i"], automatic: .never, exit: 66),
  Row(
    .durableSessionConflict(host: "h", id: "i"), "Session Conflict",
    "Session i on h belongs to another program. Nothing was started.", icon: "terminal",
    metadata: ["session_id": "i"], automatic: .never, exit: 64),
  Row(
    .durableSessionReplaced(host: "h", by: "c0ffee"), "Taken Over",
    "The session on h was taken over by client c0ffee. The program goes on.",
    [.reconnect, .dismiss], icon: "terminal", exit: 75),
  Row(
    .durableSessionReplaced(host: "h", by: ""), "Taken Over",
    "The session on h was taken over by another client. The program goes on.",
    [.reconnect, .dismiss], icon: "terminal", exit: 75),
  Row(
    .durableSessionFull(host: "h"), "Session Is Full",
    "The session on h has as many clients as it takes.", [.retry, .dismiss], icon: "terminal",
    exit: 75),
  Row(
    .durableSessionGap(from: 1_048_576, to: 4_194_304), "Output No Longer Kept",
    "Bytes 1048576 to 4194304 of the session are no longer kept.", icon: "terminal",
    automatic: .never, exit: 74),
  Row(
    .durableSessionOutcomeUnknown(host: "h", reason: "the keeper died"), "Outcome Unknown",
    "The outcome of the program on h is not known: the keeper died.",
    icon: "terminal", automatic: .never, exit: 74),
  Row(
    .durableSessionHostUnusable(host: "h", reason: "bridge-host is not installed"),
    "No Durable Sessions",
    "h cannot keep durable sessions: bridge-host is not installed.",
    [.checkSettings, .dismiss], icon: "terminal", exit: 78),
  Row(
    .storeUnusable(store: "state.db", problem: .unavailable(reason: "it is being started")),
    "Store Not Usable",
    "state.db cannot be used: it does not answer: it is being started.", [.retry, .dismiss],
    automatic: .repeatOperation, exit: 69),
  storeRow(
    .newerSchema(found: 9, known: 1), "it has version 9 of the schema, and this program knows 1."),
  storeRow(.otherProgram, "it belongs to another program."),
  storeRow(.notADatabase, "it is no database."),
  storeRow(.inUse, "another process has it open."), storeRow(.readOnly, "it cannot be written."),
  storeRow(.full, "the disk is full."), storeRow(.damaged, "it is damaged."),
  storeRow(.refused, "the database refuses the login."),
  Row(
    .agentTakenOver(agent: "a", by: "h"), "Agent Taken Over",
    "a is carried by h. This host writes no more for it.", automatic: .never, exit: 75),
  Row(
    .agentTakenOver(agent: "a", by: ""), "Agent Taken Over",
    "a is carried by no host now. This host writes no more for it.", automatic: .never,
    exit: 75),
  Row(
    .cancelled, "Canceled", "It was canceled before it finished.", icon: "xmark",
    severity: .info, automatic: .never, exit: 130),
]

private func storeRow(_ problem: StoreProblem, _ fact: String) -> Row {
  Row(
    .storeUnusable(store: "state.db", problem: problem), "Store Not Usable",
    "state.db cannot be used: \(fact)", exit: 78)
}

let catalogueTable: [CatalogueExpectation] =
  network + api + agent + ssh + files + projects + added
