import BridgeErrors
import BridgeHTTP
import BridgeTestKit
import Foundation
import FoundationNetworking
import Testing

private struct User: Codable, Sendable, Equatable {
  var name: String
}

/// Fails or answers as told, without a network.
private struct ScriptedTransport: HTTPTransport {
  var result: Result<HTTPAnswer, URLError>
  func answer(to request: URLRequest) async throws(URLError) -> HTTPAnswer { try result.get() }
}

private func failure(
  of call: () async throws(APIFailure) -> User
) async -> APIFailure? {
  do throws(APIFailure) {
    _ = try await call()
    return nil
  } catch {
    return error
  }
}

@Suite struct HTTPClientLoopbackTests {
  private func client(
    options: HTTPClient.Options = .init(), bodyLimit: Int = URLSessionTransport.bodyLimit,
    answer: @escaping LoopbackServer.Answer
  ) throws -> (HTTPClient, LoopbackServer) {
    let server = try LoopbackServer(answer: answer)
    let client = HTTPClient(
      baseURL: try #require(server.url), transport: URLSessionTransport(bodyLimit: bodyLimit),
      options: options)
    return (client, server)
  }

  static let statuses: [(Int, APIError, Bool, Bool)] = [
    (400, .badRequest("Bad request"), false, false), (401, .unauthorized, false, true),
    (403, .forbidden, false, false), (404, .notFound, false, false),
    (408, .requestTimeout, true, false), (409, .conflict("Conflict"), false, false),
    (418, .unknownError(418, "<html>"), false, false), (500, .serverError(500), true, false),
    (503, .serverError(503), true, false),
  ]

  @Test(arguments: statuses)
  func aBareStatusDecides(
    status: Int, expected: APIError, isRetryable: Bool, requiresReauth: Bool
  ) async throws {
    let (client, server) = try client { _ in LoopbackServer.http(status, "<html>") }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == expected)
    #expect(failure?.status == status)
    #expect(failure?.isRetryable == isRetryable)
    #expect(failure?.requiresReauth == requiresReauth)
    withExtendedLifetime(server) {}
  }

  @Test func aSuccessComesBack() async throws {
    let (client, server) = try client { request in
      #expect(request.line == "GET /base/me?q=a%20b HTTP/1.1")
      #expect(request.headers["accept"] == "application/json")
      return LoopbackServer.http(200, #"{"name":"ann"}"#)
    }
    let user: User = try await client.get("/me", query: [.init(name: "q", value: "a b")])
    #expect(user == User(name: "ann"))
    withExtendedLifetime(server) {}
  }

  @Test func aBodyIsPosted() async throws {
    let (client, server) = try client { request in
      #expect(request.line == "POST /base/api/auth/login HTTP/1.1")
      #expect(request.headers["content-type"] == "application/json")
      #expect(request.headers["authorization"] == "Bearer t")
      return LoopbackServer.http(201, String(decoding: request.body, as: UTF8.self))
    }
    var options = HTTPClient.Options()
    options.prepare = { $0.setValue("Bearer t", forHTTPHeaderField: "Authorization") }
    let prepared = HTTPClient(baseURL: try #require(server.url), options: options)
    let user: User = try await prepared.post("/api/auth/login", body: User(name: "ann"))
    #expect(user == User(name: "ann"))
    withExtendedLifetime((client, server)) {}
  }

  @Test func anEnvelopeComesBackWhole() async throws {
    let body = #"{"error":{"code":"USER_EXISTS","message":"Taken","correlationId":"s-1"}}"#
    let (client, server) = try client { _ in LoopbackServer.http(422, body) }
    let failure = await failure { () async throws(APIFailure) in
      try await client.post("/register", body: User(name: "ann"))
    }
    #expect(
      failure
        == APIFailure(
          error: .conflict("Taken"), status: 422, code: "USER_EXISTS", message: "Taken",
          correlationId: "s-1"))
    withExtendedLifetime(server) {}
  }

  @Test func anEnvelopeInA200IsAnError() async throws {
    let body = #"{"error":{"code":"INTERNAL_ERROR","message":"No"},"name":"ann"}"#
    let (client, server) = try client { _ in LoopbackServer.http(200, body) }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == .serverError(500))
    withExtendedLifetime(server) {}
  }

  @Test(
    arguments: [
      ("17", 17), ("Sun, 06 Nov 1994 08:49:37 GMT", 10), ("soon", nil),
    ] as [(String, Int?)])
  func theWaitTheServerAsksForIsRead(header: String, seconds: Int?) async throws {
    var options = HTTPClient.Options()
    options.now = { Date(timeIntervalSince1970: 784_111_767) }
    let (client, server) = try client(options: options) { _ in
      LoopbackServer.http(429, headers: ["Retry-After: \(header)"])
    }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.retryAfter == seconds)
    #expect(failure?.isRetryable == false)
    #expect(
      failure.map { AppError(apiFailure: $0) } == .apiRateLimited(retryAfter: seconds))
    withExtendedLifetime(server) {}
  }

  @Test func theCorrelationIdGoesOutAndComesBack() async throws {
    let (client, server) = try client { request in
      let id = request.headers["x-correlation-id"] ?? ""
      return LoopbackServer.http(500, headers: ["X-Correlation-ID: \(id)-echo"])
    }
    let id = try #require(CorrelationID(header: "mine"))
    let own = await CorrelationID.$current.withValue(id) {
      await failure { () async throws(APIFailure) in try await client.get("/me") }
    }
    #expect(own?.correlationId == "mine-echo")
    let generated = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(generated?.correlationId?.count == 36 + "-echo".count)
    withExtendedLifetime(server) {}
  }

  @Test func aRedirectToAnotherOriginIsNotFollowed() async throws {
    let other = try LoopbackServer { _ in
      Issue.record("asked for a redirect's target")
      return LoopbackServer.http(200, #"{"name":"eve"}"#)
    }
    let target = "http://127.0.0.1:\(other.port)/me"
    let (client, server) = try client { _ in
      LoopbackServer.http(302, headers: ["Location: \(target)"])
    }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.status == 302)
    #expect(failure?.isRetryable == false)
    withExtendedLifetime((server, other)) {}
  }

  @Test func aRedirectWithinTheOriginIsFollowed() async throws {
    let (client, server) = try client { request in
      request.line.contains("/old")
        ? LoopbackServer.http(302, headers: ["Location: /base/new"])
        : LoopbackServer.http(200, #"{"name":"ann"}"#)
    }
    let user: User = try await client.get("/old")
    #expect(user == User(name: "ann"))
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [true, false])
  func aBodyOverTheLimitIsRefused(announcesLength: Bool) async throws {
    let body = String(repeating: "x", count: 200_000)
    let (client, server) = try client(bodyLimit: 100_000) { _ in
      announcesLength
        ? LoopbackServer.http(200, body)
        : Data(("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body).utf8)
    }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == .networkError)
    withExtendedLifetime(server) {}
  }

  @Test func withoutListener() async throws {
    // No program listens on the port of tcpmux.
    let url = try #require(URL(string: "http://127.0.0.1:1"))
    let failure = await failure { () async throws(APIFailure) in
      try await HTTPClient(baseURL: url).get("/me")
    }
    #expect(failure?.error == .networkError)
    #expect(failure?.status == nil)
    #expect(failure?.correlationId?.count == 36)
  }

  @Test func whatIsNotHTTPIsANetworkFault() async throws {
    let (client, server) = try client { _ in Data("SSH-2.0-OpenSSH_9.2\r\n".utf8) }
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == .networkError)
    withExtendedLifetime(server) {}
  }

  @Test func aSilentServerIsGivenUpAtTheDeadline() async throws {
    let clock = ManualClock()
    var options = HTTPClient.Options()
    options.clock = clock
    options.timeout = .seconds(7)
    let (client, server) = try client(options: options) { _ in nil }
    async let failure = failure { () async throws(APIFailure) in try await client.get("/me") }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(7))
    #expect(await failure?.error == .requestTimeout)
    withExtendedLifetime(server) {}
  }

  @Test func aCancelledCallIsACancellation() async throws {
    let clock = ManualClock()
    var options = HTTPClient.Options()
    options.clock = clock
    let (client, server) = try client(options: options) { _ in nil }
    let call = Task {
      await failure { () async throws(APIFailure) in try await client.get("/me") }
    }
    await clock.sleepers(atLeast: 1)
    call.cancel()
    #expect(await call.value == .cancelled)
    withExtendedLifetime(server) {}
  }
}

@Suite struct HTTPClientTests {
  private func client(
    _ result: Result<HTTPAnswer, URLError>, options: HTTPClient.Options = .init()
  ) throws -> HTTPClient {
    let url = try #require(URL(string: "http://api.example.com/v1"))
    return HTTPClient(
      baseURL: url, transport: ScriptedTransport(result: result), options: options)
  }

  @Test(arguments: [
    (URLError.Code.notConnectedToInternet, APIError.noInternetConnection),
    (.networkConnectionLost, .noInternetConnection), (.timedOut, .requestTimeout),
    (.cannotFindHost, .networkError),
  ])
  func aFailedExchangeIsMappedByItsCode(code: URLError.Code, expected: APIError) async throws {
    let client = try client(.failure(URLError(code)))
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == expected)
  }

  @Test func anAnswerThatIsNotHTTPIsANetworkFault() async throws {
    let client = try client(.success(HTTPAnswer(status: nil)))
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == .networkError)
  }

  @Test(arguments: ["me", "", "//evil.example.com/me", "http://evil.example.com/me", "@evil/me"])
  func aPathThatLeavesTheAPIIsRefused(path: String) async throws {
    let client = try client(.success(HTTPAnswer(status: 200, body: Data(#"{"name":"a"}"#.utf8))))
    let failure = await failure { () async throws(APIFailure) in try await client.get(path) }
    #expect(failure?.error == .invalidURL)
  }

  @Test func aBodyThatCannotBeEncodedIsNotSent() async throws {
    let client = try client(.success(HTTPAnswer(status: 200)))
    let failure = await failure { () async throws(APIFailure) in
      try await client.post("/me", body: ["x": Double.nan])
    }
    #expect(failure?.error == .encodingError)
  }

  @Test func aSuccessThatIsNotOneIsADecodingError() async throws {
    let client = try client(.success(HTTPAnswer(status: 200, body: Data("[]".utf8))))
    let failure = await failure { () async throws(APIFailure) in try await client.get("/me") }
    #expect(failure?.error == .decodingError)
    #expect(failure?.status == 200)
  }

  @Test func anEmptyAnswerIsEnoughWhereNothingIsExpected() async throws {
    let client = try client(.success(HTTPAnswer(status: 204)))
    let nothing: NoContent = try await client.get("/me")
    #expect(nothing == NoContent())
  }

  @Test func theHookSeesOnlyWhatHoldsNoError() async throws {
    var options = HTTPClient.Options()
    options.beforeDecoding = { _ in Data(#"{"name":"hooked"}"#.utf8) }
    let good = try client(.success(HTTPAnswer(status: 200)), options: options)
    let user: User = try await good.get("/me")
    #expect(user.name == "hooked")
    let bad = try client(.success(HTTPAnswer(status: 500)), options: options)
    let failure = await failure { () async throws(APIFailure) in try await bad.get("/me") }
    #expect(failure?.error == .serverError(500))
  }

  @Test func everyStepIsReported() async throws {
    let id = try #require(CorrelationID(header: "r-1"))
    let answers: [(Result<HTTPAnswer, URLError>, [APIEvent])] = [
      (
        .success(HTTPAnswer(status: 500)),
        [
          .responseReceived(status: 500, path: "/v1/me", correlationID: id, echoed: nil),
          .nonconformingErrorBody(status: 500, path: "/v1/me", correlationID: id),
        ]
      ),
      (
        .success(HTTPAnswer(status: 200, headers: ["X-Correlation-Id": "r-1"])),
        [
          .responseReceived(status: 200, path: "/v1/me", correlationID: id, echoed: id),
          .decodeFailed(type: "User", path: "/v1/me", correlationID: id),
        ]
      ),
      (
        .failure(URLError(.timedOut)),
        [.exchangeFailed(error: .requestTimeout, path: "/v1/me", correlationID: id)]
      ),
    ]
    for (answer, expected) in answers {
      let (events, continuation) = AsyncStream.makeStream(of: APIEvent.self)
      var options = HTTPClient.Options()
      options.observe = { continuation.yield($0) }
      let client = try client(answer, options: options)
      await CorrelationID.$current.withValue(id) {
        _ = await failure { () async throws(APIFailure) in
          try await client.get("/me", query: [.init(name: "token", value: "hunter2")])
        }
      }
      continuation.finish()
      var seen: [APIEvent] = []
      for await event in events { seen.append(event) }
      let sent = APIEvent.requestSent(method: "GET", path: "/v1/me", correlationID: id)
      #expect(seen == [sent] + expected)
    }
  }
}
