import BridgeDiagnostics
import BridgeErrors
import Foundation
import Logging
import Testing

@Suite struct ErrorLogTests {
  @Test(arguments: [
    (ErrorLogLevel.debug, Logger.Level.debug), (.info, .info), (.warning, .warning),
    (.error, .error), (.fault, .critical),
  ])
  func everyLevelHasItsName(level: ErrorLogLevel, expected: Logger.Level) {
    #expect(Logger.Level(level) == expected)
  }

  @Test func theLabelIsSubsystemAndCategory() {
    #expect(ErrorLog().logger.label == "com.codingbridge.error")
  }

  @Test func aLineIsTheTitleWithMetadataAndPlace() async throws {
    let error = AppError.serverError(status: 503, message: "pool empty")
    let (at, function) = (UInt(#line + 1), #function)
    let seen = await lines { ErrorLog(logger: $0).record(error, metadata: ["attempt": "2"]) }
    let line = try #require(seen.first)
    #expect(line.level == .error)
    #expect(line.text == "Server Error")
    #expect(
      line.metadata
        == error.logMetadata.merging(["attempt": "2"]) { own, _ in own })
    #expect(line.file == #fileID && line.function == function && line.line == at)
  }

  @Test func whatThePayloadSaysGoesToDebugOnly() async {
    let error = AppError.serverError(status: 503, message: "pool empty")
    let quiet = await lines { ErrorLog(logger: $0).record(error) }
    #expect(quiet.map(\.level) == [.error, .debug])
    #expect(quiet.last?.text == "Server Error: Server returned error 503: pool empty")
    let open = await lines { ErrorLog(logger: $0, includesUserMessage: true).record(error) }
    #expect(open.map(\.level) == [.error])
    #expect(open.first?.text == "Server Error: Server returned error 503: pool empty")
  }

  @Test func anInternalErrorIsCriticalAndACancellationDebug() async {
    let fault = await lines { AppError.internalError(detail: "d").log(to: ErrorLog(logger: $0)) }
    #expect(fault.first?.level == .critical)
    let cancelled = await lines { AppError.cancelled.log(to: ErrorLog(logger: $0)) }
    #expect(cancelled.map(\.level) == [.debug])
  }

  @Test func theTasksCorrelationIdIsOnEveryLine() async throws {
    let id = try #require(CorrelationID(header: "r-1"))
    let seen = await CorrelationID.$current.withValue(id) {
      await lines {
        ErrorLog(logger: $0).record(AppError.agentBusy)
        ErrorLog(logger: $0).record(CocoaError(.fileNoSuchFile), context: "load")
      }
    }
    #expect(seen.count == 3)
    for line in seen { #expect(line.metadata["correlation_id"] == "r-1") }
  }

  @Test func anyErrorIsLoggedByTypeContextAndTime() async {
    struct Stranger: Error { var password = "hunter2" }
    let now = Date(timeIntervalSince1970: 1_759_838_400)
    let seen = await lines {
      ErrorLog(logger: $0).record(Stranger(), context: "login", at: now)
      ErrorLog(logger: $0).record(AppError.agentBusy as any Error, context: "run", at: now)
      ErrorLog(logger: $0).record(CancellationError(), context: "run", at: now)
    }
    #expect(
      seen.first?.metadata
        == ["context": "login", "error_type": "Stranger", "timestamp": "2025-10-07T12:00:00Z"])
    #expect(seen.map(\.level) == [.error, .info, .debug])
    #expect(seen[1].metadata["error_type"] == "agentBusy")
  }

  @Test func aFailedRequestIsLoggedWithoutItsQuery() async throws {
    let id = try #require(CorrelationID(header: "r-1"))
    let seen = await lines {
      ErrorLog(logger: $0).requestFailed(
        AppError.apiUnauthorized, method: "POST", path: "/login?token=hunter2", correlationID: id)
    }
    #expect(seen.map(\.text) == ["Request failed"])
    #expect(
      seen.first?.metadata
        == [
          "error_type": "apiUnauthorized", "method": "POST", "path": "/login",
          "correlation_id": "r-1",
        ])
  }

  @Test func everyStepOfAClientIsALine() async throws {
    let id = try #require(CorrelationID(header: "r-1"))
    let events: [(APIEvent, Logger.Level, String)] = [
      (.requestSent(method: "GET", path: "/me", correlationID: id), .debug, "Request"),
      (
        .responseReceived(status: 200, path: "/me", correlationID: id, echoed: nil), .debug,
        "Response"
      ),
      (
        .exchangeFailed(error: .requestTimeout, path: "/me", correlationID: id), .warning,
        "Exchange failed"
      ),
      (
        .nonconformingErrorBody(status: 500, path: "/me", correlationID: id), .warning,
        "Error body is no envelope"
      ),
      (
        .decodeFailed(type: "User", path: "/me", correlationID: id), .error,
        "Answer could not be decoded"
      ),
    ]
    for (event, level, text) in events {
      let seen = await lines { ErrorLog(logger: $0).record(event) }
      #expect(seen.map(\.level) == [level])
      #expect(seen.map(\.text) == [text])
      #expect(seen.first?.metadata["correlation_id"] == "r-1")
      #expect(seen.first?.metadata["path"] == "/me")
    }
  }

  @Test func noSecretIsInAnyLine() async throws {
    let said =
      "password=hunter2canary Authorization: Bearer sk-canary-token-123456 ann.canary@example.com"
    let id = try #require(CorrelationID(header: "r-1"))
    let errors: [AppError] = [
      .serverError(status: 500, message: said),
      .sshCommandFailed(command: said, exitCode: 1, stderr: said), .apiBadRequest(message: said),
      .validationError(field: "f", message: said), .webSocketDisconnected(code: 1, reason: said),
      .fileNotFound(path: said), .sessionNotFound(id: said), .unknown(message: said),
      .internalError(detail: said), .sshConnectionFailed(host: said, reason: said),
    ]
    let seen = await lines { logger in
      for error in errors {
        ErrorLog(logger: logger).record(error, metadata: ["note": said])
        ErrorLog(logger: logger, includesUserMessage: true).record(error)
        ErrorLog(logger: logger).record(error as any Error, context: said)
        ErrorLog(logger: logger).requestFailed(
          error, method: "GET", path: said, correlationID: id)
      }
    }
    #expect(seen.count == errors.count * 5)
    for canary in ["hunter2canary", "sk-canary", "ann.canary"] {
      for line in seen { #expect(!line.whole.contains(canary), "\(line.whole)") }
    }
  }

  @Test func hostileTextStaysOnItsLine() async {
    let hostile = "\u{1B}[2J\r\nfake: line\u{202E}" + String(repeating: "x", count: 1_000_000)
    let seen = await lines {
      ErrorLog(logger: $0, includesUserMessage: true)
        .record(.webSocketConnectionFailed(reason: hostile), metadata: ["host": hostile])
    }
    for line in seen {
      #expect(line.whole.utf8.count < 16_384)
      #expect(!line.whole.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" })
    }
  }
}
