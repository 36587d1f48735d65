/// Every error, for people who look one up and for tests that compare whole tables.
public enum ErrorCatalogue {
  /// One value of every case in the order of their declaration, payloads in angle brackets.
  public static let examples: [AppError] = [
    .networkUnavailable, .timeout(seconds: 60), .serverError(status: 503, message: "<message>"),
    .sslError(description: "<description>"), .dnsError(host: "<host>"),
    .webSocketConnectionFailed(reason: "<reason>"),
    .webSocketDisconnected(code: 1001, reason: "<reason>"),
    .webSocketMessageInvalid(detail: "<detail>"), .webSocketPingTimeout,
    .apiNotFound(endpoint: "<endpoint>"), .apiBadRequest(message: "<message>"), .apiUnauthorized,
    .apiRateLimited(retryAfter: 30), .apiDecodingError(type: "<type>", detail: "<detail>"),
    .apiMissingField(field: "<field>"),
    .agentBusy, .agentCreationFailed(reason: "<reason>"), .agentAborted,
    .agentExecutionError(message: "<message>"), .agentSessionNotFound(sessionId: "<id>"),
    .agentModelUnavailable(model: "<model>"),
    .permissionDenied(tool: "<tool>"), .permissionTimeout(tool: "<tool>", seconds: 60),
    .permissionSystemError(detail: "<detail>"),
    .sshConnectionFailed(host: "<host>", reason: "<reason>"),
    .sshAuthenticationFailed(method: "<method>"),
    .sshCommandFailed(command: "<command>", exitCode: 1, stderr: "<stderr>"),
    .sshTimeout(seconds: 30), .sshKeyInvalid(reason: "<reason>"),
    .sshHostKeyMismatch(host: "<host>"),
    .fileNotFound(path: "<path>"), .fileReadError(path: "<path>", reason: "<reason>"),
    .fileWriteError(path: "<path>", reason: "<reason>"),
    .insufficientDiskSpace(required: 1_073_741_824, available: 536_870_912),
    .filePermissionDenied(path: "<path>"),
    .encodingError(type: "<type>", detail: "<detail>"),
    .decodingError(type: "<type>", detail: "<detail>"),
    .databaseError(operation: "<operation>", detail: "<detail>"),
    .migrationError(from: 1, to: 2, reason: "<reason>"),
    .validationError(field: "<field>", message: "<message>"), .invalidURL(string: "<string>"),
    .invalidProjectPath(path: "<path>"),
    .sessionNotFound(id: "<id>"), .sessionArchived(id: "<id>"),
    .sessionExportFailed(reason: "<reason>"),
    .sessionSearchFailed(query: "<query>", reason: "<reason>"),
    .projectNotFound(path: "<path>"), .projectCloneFailed(url: "<url>", reason: "<reason>"),
    .projectAlreadyExists(path: "<path>"),
    .unknown(message: "<message>"), .internalError(detail: "<detail>"),
    .featureUnavailable(feature: "<feature>"),
    .sshHostKeyUnknown(host: "<host>", fingerprint: "<fingerprint>"),
    .sshServerBusy(host: "<host>", retryAfter: nil), .sshOutcomeUnknown(command: "<command>"),
    .sshAlgorithmMismatch(host: "<host>", detail: "<detail>"),
    .sshProtocolError(host: "<host>", detail: "<detail>"),
    .durableSessionNotFound(host: "<host>", id: "<id>"),
    .durableSessionConflict(host: "<host>", id: "<id>"),
    .durableSessionReplaced(host: "<host>", by: "<client>"),
    .durableSessionFull(host: "<host>"),
    .durableSessionGap(from: 1_048_576, to: 4_194_304),
    .durableSessionOutcomeUnknown(host: "<host>", reason: "<reason>"),
    .durableSessionHostUnusable(host: "<host>", reason: "<reason>"),
    .storeUnusable(store: "<store>", problem: .unavailable(reason: "<reason>")),
    .agentTakenOver(agent: "<agent>", by: "<host>"), .cancelled,
  ]

  /// Every case as a page of a manual.
  public static var entries: [Entry] { examples.map(Entry.init) }

  /// The page of the case with this name, in exact or other case; nil where there is none.
  public static func entry(named name: String) -> Entry? {
    let entries = entries
    return entries.first { $0.caseName == name }
      ?? entries.first { $0.caseName.lowercased() == name.lowercased() }
  }

  /// One case as a page of a manual: what `bridgectl errors` prints.
  public struct Entry: Sendable, Equatable, Encodable {
    /// The name of the case.
    public let caseName: String
    /// The part of the product.
    public let domain: String
    /// The title.
    public let title: String
    /// The message, payloads in angle brackets.
    public let message: String
    /// The hint, payloads in angle brackets.
    public let hint: String
    /// Why it happens.
    public let cause: String
    /// What to do.
    public let remedy: String
    /// The severity's name.
    public let severity: String
    /// The name of an SF Symbol.
    public let icon: String
    /// The titles of the recovery options.
    public let options: [String]
    /// What happens by itself to an operation that fails with it (`RetryClass`).
    public let automatic: String
    /// The exit code of a program that ends with it, where its failure's kind says nothing else.
    public let exitCode: Int
    /// The ways a connection ends with it, and what is done then; empty for other errors.
    public let links: [LinkPolicy]
    /// The keys of its log metadata, sorted.
    public let metadataKeys: [String]

    init(_ example: AppError) {
      let row = example.row
      caseName = row.caseName
      domain = row.domain.rawValue
      title = row.title
      message = row.userMessage
      hint = row.hint
      cause = row.cause
      remedy = row.remedy
      severity = row.severity.name
      icon = row.icon
      options = row.options().map(\.title)
      automatic = row.automatic.rawValue
      exitCode = Int(row.exit.rawValue)
      links = ErrorCatalogue.links(endingWith: row.caseName)
      metadataKeys = example.logMetadata.keys.sorted()
    }
  }
}
