import BridgeAccount
import BridgeErrors
import Foundation
import Testing

/// The document of the contract says what the code does.
@Suite("docs/contract.md") struct ContractTests {
  private static let text: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let data = FileManager.default.contents(
      atPath: root.appending(path: "docs/contract.md").path)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }()

  /// The cells of the `index`th table below the heading, without its two first lines.
  private func table(below heading: String, _ index: Int = 0) -> [[String]] {
    let lines = Self.text.split(separator: "\n", omittingEmptySubsequences: false)
    let section = lines.drop { $0 != heading }.dropFirst().prefix { !$0.hasPrefix("#") }
    let tables = section.split { !$0.hasPrefix("|") }
    guard index < tables.count else { return [] }
    return tables[tables.startIndex + index].dropFirst(2).map { line in
      line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.replacing("`", with: "").trimmingCharacters(in: .whitespaces) }
    }
  }

  private func row(of error: any Error, named name: String) -> [String] {
    let (status, envelope) = ErrorEnvelope.outgoing(for: error, correlationHeader: nil)
    return [name, "\(status)", envelope.error.code ?? ""]
  }

  @Test func everyErrorOfTheRuntimeIsThere() {
    #expect(
      table(below: "### Errors of the runtime")
        == ErrorCatalogue.examples.map { row(of: $0, named: $0.caseName) })
    let limit = ErrorEnvelope.outgoing(
      for: AppError.apiRateLimited(retryAfter: nil), correlationHeader: nil, route: .account)
    #expect(limit.envelope.error.code == "TOO_MANY_AUTH_ATTEMPTS")
  }

  @Test func everyErrorOfTheAccountIsThere() {
    #expect(
      table(below: "### Errors of the account")
        == AuthError.allCases.map {
          row(of: $0, named: "\($0)") + [$0.envelopeValidationErrors.first?.field ?? ""]
        })
  }

  @Test func aClientReadsCodesAndStatusesAsItSays() {
    let heading = "### How a client maps them"
    func name(_ code: String?, _ status: Int) -> String {
      let response = ErrorResponse(error: .init(code: code, message: "m"))
      let error = APIError.fromErrorResponse(response, statusCode: status)
      return String("\(error)".prefix { $0 != "(" })
    }
    let codes = table(below: heading)
    #expect(codes.count == 5)
    for row in codes { #expect(row == [row[0], name(row[0], 418)]) }
    let statuses = table(below: heading, 1)
    #expect(statuses.count == 10)
    for row in statuses { #expect(row == [row[0], Int(row[0]).map { name(nil, $0) }]) }
  }

  @Test func theTextsOfTheInsideAreTheDocuments() {
    struct Foreign: Error {}
    for error in [AppError.internalError(detail: "d"), Foreign()] as [any Error] {
      let message = ErrorEnvelope.outgoing(for: error, correlationHeader: nil).envelope.error
        .message
      #expect(Self.text.replacing("\n  ", with: " ").contains("\"\(message)\""))
    }
    let wrapped =
      EnvelopeNormalizer.normalize(status: 400, body: nil) as? [String: [String: String]]
    #expect(wrapped?["error"]?["code"] == "UNKNOWN_ERROR")
    #expect(Self.text.contains("\"\(wrapped?["error"]?["message"] ?? "")\""))
  }

  @Test func everyRouteIsThere() async throws {
    let carrier = RecordingCarrier()
    let service = HostAccountService(carrier: carrier)
    _ = try await service.login(LoginRequest(email: "e", password: "p"))
    _ = try await service.register(RegisterRequest(email: "e", password: "p"))
    try await service.requestReset(email: "e")
    try await service.confirmReset(email: "e", code: "c", newPassword: "n")
    #expect(await carrier.rows == table(below: "## Account").map { Array($0.prefix(2)) })
    for row in table(below: "## Account") where row[2] != "any object, or nothing" {
      #expect(row[2] == "user, token")
    }
  }

  @Test func theHelloIsTheExample() throws {
    let example = try #require(
      Self.text.firstMatch(of: /```json\n(\{"type":"hello".*?\})\n```/)
    ).output.1
    let hello = try WireHello(message: Data(example.utf8))
    #expect(hello == WireHello(correlationID: CorrelationID(header: "6f1e")))
    #expect(Self.text.contains("This is version **\(WireHello.currentVersion)**."))
    #expect(Self.text.contains("\n\(WireHello.maximumLength) bytes, sends an envelope"))
    #expect(Self.text.contains("closes with code \(WireHelloError.closeCode) (RFC 6455"))
    let written = try JSONEncoder.apiEncoder.encode(hello)
    let keys = try #require(JSONSerialization.jsonObject(with: written) as? [String: Any]).keys
    #expect(Set(table(below: "## WebSocket").map { $0[0] }) == Set(keys))
    #expect(
      table(below: "## WebSocket", 1) == [
        row(of: WireHelloError.notAHello, named: "notAHello"),
        row(of: WireHelloError.tooNew(theirs: 2, ours: 1), named: "tooNew"),
      ])
  }

  @Test func theHeaderAndItsLengthAreTheDocuments() {
    #expect(Self.text.contains("`\(CorrelationID.headerName)` ties"))
    #expect(Self.text.contains("with 1 to \(CorrelationID.maximumLength)\n"))
  }

  @Test func theExampleOfAnEnvelopeIsOne() throws {
    let example = try #require(Self.text.firstMatch(of: /```json\n(\{"error".*?\})\n```/)).output.1
    let body = try JSONDecoder.apiDecoder.decode(ErrorResponse.self, from: Data(example.utf8)).error
    #expect(body.code == "AGENT_BUSY" && body.correlationId == "6f1e")
    let keys = table(below: "## Errors").map { $0[0] }
    #expect(keys == ["code", "message", "correlationId", "validationErrors"])
  }
}

/// A host that answers everything, and remembers what it was asked.
private actor RecordingCarrier: AccountCarrier {
  private(set) var rows: [[String]] = []

  func post<Body: Encodable & Sendable, Answer: Decodable & Sendable>(
    _ path: String, body: Body
  ) async throws -> Answer {
    let data = try JSONEncoder().encode(body)
    let keys = (try JSONSerialization.jsonObject(with: data) as? [String: Any])?.keys.sorted() ?? []
    rows.append([path, keys.joined(separator: ", ")])
    let session = Data(#"{"user":{"id":"u"},"token":"t"}"#.utf8)
    return try JSONDecoder.apiDecoder.decode(Answer.self, from: session)
  }
}
