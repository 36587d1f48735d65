public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// HTTP over URLSession: nothing cached, no cookies kept, bodies bounded, redirects only within
/// the origin.
public struct URLSessionTransport: HTTPTransport {
  /// The largest body that is read, in bytes: 16 MiB.
  public static let bodyLimit = 16 << 20

  private let session: URLSession
  private let bodyLimit: Int

  /// A transport with a session of its own. `bodyLimit` in bytes.
  public init(bodyLimit: Int = bodyLimit) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    session = URLSession(configuration: configuration, delegate: Router(), delegateQueue: nil)
    self.bodyLimit = bodyLimit
  }

  /// The server's answer. Throws `.dataLengthExceedsMaximum` for a body over the limit.
  public func answer(to request: URLRequest) async throws(URLError) -> HTTPAnswer {
    let (events, continuation) = AsyncStream.makeStream(
      of: Exchange.Event.self, bufferingPolicy: .bufferingOldest(Exchange.eventLimit(bodyLimit)))
    let task = session.dataTask(with: request)
    task.delegate = Exchange(events: continuation, origin: request.url, bodyLimit: bodyLimit)
    task.resume()
    defer { task.cancel() }
    var body = Data()
    for await event in events {
      switch event {
      case .data(let piece):
        body.append(piece)
        guard body.count <= bodyLimit else { throw URLError(.dataLengthExceedsMaximum) }
      case .failed(let error):
        throw error
      case .complete(let status, let headers):
        return HTTPAnswer(status: status, headers: headers, body: body)
      }
    }
    throw URLError(Task.isCancelled ? .cancelled : .dataLengthExceedsMaximum)
  }
}

/// One exchange, as its task carries it: where events go, and what may be followed.
private final class Exchange: NSObject, URLSessionTaskDelegate, Sendable {
  enum Event: Sendable {
    case data(Data)
    case failed(URLError)
    case complete(status: Int?, headers: [String: String])
  }

  /// libcurl hands out at most 16 KiB at once (CURL_MAX_WRITE_SIZE); a slow sender's smaller pieces
  /// are read faster than they come.
  static func eventLimit(_ bodyLimit: Int) -> Int { bodyLimit / (4 << 10) + 1024 }

  private let events: AsyncStream<Event>.Continuation
  private let origin: URL?
  private let bodyLimit: Int

  init(events: AsyncStream<Event>.Continuation, origin: URL?, bodyLimit: Int) {
    self.events = events
    self.origin = origin
    self.bodyLimit = bodyLimit
  }

  func announced(length: Int64) {
    if length > Int64(bodyLimit) { end(with: .failed(URLError(.dataLengthExceedsMaximum))) }
  }

  /// Whether there was space for `piece`.
  func received(_ piece: Data) -> Bool {
    if case .enqueued = events.yield(.data(piece)) { return true }
    events.finish()
    return false
  }

  func end(with event: Event) {
    events.yield(event)
    events.finish()
  }

  /// Credentials do not follow a redirect to another origin; the 3xx is the answer then.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let isSameOrigin =
      request.url?.scheme == origin?.scheme && request.url?.host == origin?.host
      && request.url?.port == origin?.port
    completionHandler(isSameOrigin ? request : nil)
  }
}

/// Sends what a session reports to the exchange of its task. It holds nothing, so it needs no lock.
private final class Router: NSObject, URLSessionDataDelegate, Sendable {
  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    (dataTask.delegate as? Exchange)?.announced(length: response.expectedContentLength)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if (dataTask.delegate as? Exchange)?.received(data) != true { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard let exchange = task.delegate as? Exchange else { return }
    if let error {
      exchange.end(with: .failed(error as? URLError ?? URLError(.unknown)))
      return
    }
    let response = task.response as? HTTPURLResponse
    var headers: [String: String] = [:]
    for (name, value) in response?.allHeaderFields ?? [:] {
      headers["\(name)"] = "\(value)"
    }
    exchange.end(with: .complete(status: response?.statusCode, headers: headers))
  }
}
