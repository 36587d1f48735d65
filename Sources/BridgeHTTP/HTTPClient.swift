public import BridgeErrors
import BridgeURLErrors
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A client of one API that looks at status and error before it looks for a success (S4-06…S4-14).
///
/// Every request carries a correlation id: the current task's, or a new one. Nothing is retried
/// here; `APIFailure.isRetryable` says what may be.
public struct HTTPClient: Sendable {
  /// The options of a client, by parts that a test can replace.
  public struct Options: Sendable {
    /// How long an exchange may take in total.
    public var timeout: Duration = .seconds(60)
    /// Adds to every request what only the app knows, for instance its credentials.
    public var prepare: @Sendable (inout URLRequest) -> Void = { _ in }
    /// Turns a body in which no error was found into the one to decode (S4-14).
    public var beforeDecoding: @Sendable (Data) -> Data = { $0 }
    /// Receives every step, for logs and counters.
    public var observe: @Sendable (APIEvent) -> Void = { _ in }
    /// The current time, for a `Retry-After` that names a date.
    public var now: @Sendable () -> Date = { Date() }
    /// Measures `timeout`.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// The defaults.
    public init() {}
  }

  private let baseURL: URL
  private let transport: any HTTPTransport
  private let options: Options

  /// A client of the API below `baseURL`.
  public init(
    baseURL: URL, transport: any HTTPTransport = URLSessionTransport(), options: Options = Options()
  ) {
    self.baseURL = baseURL
    self.transport = transport
    self.options = options
  }

  /// Asks for `path`, which begins with "/" and is put below the base URL.
  ///
  /// - Throws: `APIFailure`, `.cancelled` where the caller gave up.
  public func get<Answer: Decodable & Sendable>(
    _ path: String, query: [URLQueryItem] = []
  ) async throws(APIFailure) -> Answer {
    try await send(try request("GET", path, query: query))
  }

  /// Posts `body` as JSON to `path`, which begins with "/" and is put below the base URL.
  ///
  /// - Throws: `APIFailure`, `.cancelled` where the caller gave up.
  public func post<Body: Encodable & Sendable, Answer: Decodable & Sendable>(
    _ path: String, body: Body
  ) async throws(APIFailure) -> Answer {
    var request = try request("POST", path, query: [])
    guard let data = try? JSONEncoder.apiEncoder.encode(body) else {
      throw APIFailure(error: .encodingError)
    }
    request.httpBody = data
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    return try await send(request)
  }

  private func request(
    _ method: String, _ path: String, query: [URLQueryItem]
  ) throws(APIFailure) -> URLRequest {
    guard path.hasPrefix("/"), !path.hasPrefix("//"),
      var parts = URLComponents(url: baseURL, resolvingAgainstBaseURL: true)
    else { throw APIFailure(error: .invalidURL) }
    let base = parts.path.hasSuffix("/") ? String(parts.path.dropLast()) : parts.path
    parts.path = base + path
    parts.queryItems = query.isEmpty ? nil : query
    guard let url = parts.url, url.host == baseURL.host else {
      throw APIFailure(error: .invalidURL)
    }
    var request = URLRequest(url: url)
    request.httpMethod = method
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    return request
  }

  private func send<Answer: Decodable & Sendable>(
    _ request: URLRequest
  ) async throws(APIFailure) -> Answer {
    var request = request
    options.prepare(&request)
    let id = CorrelationID.accepted(
      from: request.value(forHTTPHeaderField: CorrelationID.headerName))
    request.setValue(id.description, forHTTPHeaderField: CorrelationID.headerName)
    let path = request.url?.path ?? ""
    options.observe(
      .requestSent(method: request.httpMethod ?? "GET", path: path, correlationID: id))
    do throws(APIFailure) {
      let answer = try await exchange(request)
      return try read(answer, path: path, id: id)
    } catch {
      guard error != .cancelled, error.status == nil else { throw error }
      options.observe(.exchangeFailed(error: error.error, path: path, correlationID: id))
      var failure = error
      failure.correlationId = id.description
      throw failure
    }
  }

  /// The answer within the timeout.
  private func exchange(_ request: URLRequest) async throws(APIFailure) -> HTTPAnswer {
    let first = await withTaskGroup(of: Result<HTTPAnswer, URLError>.self) { group in
      group.addTask { await self.outcome(of: request) }
      group.addTask {
        try? await options.clock.sleep(for: options.timeout)
        return .failure(URLError(.timedOut))
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(URLError(.unknown))
    }
    guard !Task.isCancelled else { throw .cancelled }
    return try first.mapError { APIFailure(error: APIError(urlError: $0)) }.get()
  }

  private func outcome(of request: URLRequest) async -> Result<HTTPAnswer, URLError> {
    do throws(URLError) {
      return .success(try await transport.answer(to: request))
    } catch {
      return .failure(error)
    }
  }

  /// Status, then error, then success.
  private func read<Answer: Decodable>(
    _ answer: HTTPAnswer, path: String, id: CorrelationID
  ) throws(APIFailure) -> Answer {
    // Not HTTP: a network fault rather than "invalid request" (G-60).
    guard let status = answer.status else { throw APIFailure(error: .networkError) }
    let echoed = answer.headers[CorrelationID.headerName].flatMap(CorrelationID.init(header:))
    options.observe(
      .responseReceived(status: status, path: path, correlationID: id, echoed: echoed))
    let failure = StandardAPIResponse<Answer>.failure(in: answer.body, statusCode: status)
    if var failure {
      if failure.message == nil {
        options.observe(.nonconformingErrorBody(status: status, path: path, correlationID: id))
      }
      failure.correlationId = failure.correlationId ?? (echoed ?? id).description
      failure.retryAfter = answer.headers["retry-after"]
        .flatMap { RetryAfter.seconds(from: $0, now: options.now()) }
      throw failure
    }
    do throws(DecodingError) {
      return try StandardAPIResponse<Answer>.success(in: options.beforeDecoding(answer.body))
    } catch {
      let type = String(describing: Answer.self)
      options.observe(.decodeFailed(type: type, path: path, correlationID: id))
      throw APIFailure(
        error: .decodingError, status: status, correlationId: (echoed ?? id).description)
    }
  }
}
