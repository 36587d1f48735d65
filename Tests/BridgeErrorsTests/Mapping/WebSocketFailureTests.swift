import BridgeErrors
import Foundation
import Testing

/// One row of the failure table for WebSocket.
struct WebSocketRow: Sendable {
  let failure: WebSocketFailure
  let kind: FailureKind
  let error: AppError
  let retry: RetryClass
  let exit: Int32

  init(
    _ seen: WebSocketFailure.Observation, _ kind: FailureKind, _ error: AppError,
    _ retry: RetryClass, _ exit: Int32,
    in phase: ConnectionPhase = .upgrade, at proxy: String? = nil
  ) {
    failure = WebSocketFailure(
      observation: seen, phase: phase, host: "ws.example", port: 443, path: "/chat", timeout: 7,
      proxy: proxy)
    self.kind = kind
    self.error = error
    self.retry = retry
    self.exit = exit
  }
}

private func failed(_ reason: String) -> AppError { .webSocketConnectionFailed(reason: reason) }

private let dials: [WebSocketRow] = [
  WebSocketRow(
    .nameUnknown, .nameUnknown, .dnsError(host: "ws.example"), .reconnect, 68, in: .resolve),
  WebSocketRow(
    .nameTimeout, .nameTimeout, .dnsError(host: "ws.example"), .reconnect, 68, in: .resolve),
  WebSocketRow(
    .deadline, .nameTimeout, .dnsError(host: "ws.example"), .reconnect, 68, in: .resolve),
  WebSocketRow(.offline, .offline, .networkUnavailable, .awaitNetwork, 69, in: .dial),
  WebSocketRow(.dial(errno: ENETDOWN), .offline, .networkUnavailable, .awaitNetwork, 69, in: .dial),
  WebSocketRow(
    .dial(errno: ECONNREFUSED), .refused,
    failed("Connection refused: nothing listens on port 443."), .reconnectSoon, 69, in: .dial),
  WebSocketRow(
    .dial(errno: EHOSTUNREACH), .unreachable, failed("No route to the host."),
    .reconnectSoon, 69, in: .dial),
  WebSocketRow(
    .dial(errno: ECONNRESET), .dropped,
    failed("The server closed the connection while connecting."), .reconnect, 69, in: .dial),
  WebSocketRow(
    .dial(errno: EMFILE), .localResource,
    failed("This machine has no file descriptors left."), .reconnect, 75, in: .dial),
  WebSocketRow(
    .dial(errno: ETIMEDOUT), .dialTimeout, .timeout(seconds: 7), .reconnect, 124, in: .dial),
  WebSocketRow(.deadline, .silent, .timeout(seconds: 7), .reconnect, 124, in: .dial),
  WebSocketRow(.deadline, .silent, .timeout(seconds: 7), .reconnect, 124),
]

private let causes: [(FailureKind.TLSCause, String)] = [
  (.unknownIssuer, "The certificate was issued by an authority this machine does not know."),
  (.selfSigned, "The certificate is self-signed."),
  (.expired, "The certificate has expired."),
  (.notYetValid, "The certificate is not valid yet."),
  (.wrongName, "The certificate is for another name."),
  (.notTLS, "The server does not speak TLS on this port."),
  (.pinMismatch, "The certificate is not the pinned one."),
  (.badSignature, "The certificate's signature is wrong: it was forged or damaged."),
  (.weakKey, "The certificate's key is too short to be secure."),
  (.weakDigest, "The certificate is signed with a digest that is not secure any more."),
  (.revoked, "The certificate was revoked by its issuer."),
  (.invalidCertificate, "The certificate, or one of its chain, is not valid for a server."),
  (.identityRequired, "The server wants a certificate of this client, and none is set."),
  (.identityRefused, "The server refuses the certificate of this client."),
]

private let tls: [WebSocketRow] = causes.map { cause, words in
  WebSocketRow(
    .tls(cause), .tls(cause), .sslError(description: words), .needsPerson,
    cause == .notTLS ? 76 : 79)
}

private func refusal(_ status: Int, _ message: String? = nil) -> WebSocketFailure.Observation {
  .refusedUpgrade(status: status, retryAfter: 9, message: message, location: nil)
}

private let upgrades: [WebSocketRow] = [
  WebSocketRow(refusal(401), .refusedUpgrade(status: 401), .apiUnauthorized, .reconnectOnce, 77),
  WebSocketRow(refusal(407), .refusedUpgrade(status: 407), .apiUnauthorized, .reconnectOnce, 77),
  WebSocketRow(
    refusal(404), .refusedUpgrade(status: 404), .apiNotFound(endpoint: "/chat"),
    .reconnectLater, 69),
  WebSocketRow(
    refusal(429), .refusedUpgrade(status: 429), .apiRateLimited(retryAfter: 9), .reconnectLater,
    75),
  WebSocketRow(
    refusal(403, "no"), .refusedUpgrade(status: 403), .serverError(status: 403, message: "no"),
    .reconnectOnce, 77),
  WebSocketRow(
    refusal(400, " "), .refusedUpgrade(status: 400), .serverError(status: 400, message: nil),
    .reconnectLater, 76),
  WebSocketRow(
    refusal(418), .refusedUpgrade(status: 418), .serverError(status: 418, message: nil),
    .reconnectLater, 76),
  WebSocketRow(
    refusal(408), .refusedUpgrade(status: 408), .serverError(status: 408, message: nil),
    .reconnect, 75),
  WebSocketRow(
    refusal(425), .refusedUpgrade(status: 425), .serverError(status: 425, message: nil),
    .reconnect, 75),
  WebSocketRow(
    refusal(500), .refusedUpgrade(status: 500), .serverError(status: 500, message: nil),
    .reconnect, 75),
  WebSocketRow(
    refusal(503), .refusedUpgrade(status: 503), .serverError(status: 503, message: nil),
    .reconnect, 75),
  WebSocketRow(
    refusal(200), .notTheProtocol,
    failed("It did not answer as a WebSocket server (HTTP status 200)."), .reconnectLater, 76),
  WebSocketRow(
    .refusedUpgrade(status: 302, retryAfter: nil, message: nil, location: "https://portal/"),
    .notTheProtocol, failed("It answered with a redirect to https://portal/."), .reconnectLater,
    76),
  WebSocketRow(
    .notWebSocket(seen: "SSH-2.0", location: nil), .notTheProtocol,
    failed("It did not answer as a WebSocket server (SSH-2.0)."), .reconnectLater, 76),
  WebSocketRow(
    .refusedUpgrade(
      status: 302, retryAfter: nil, message: nil, location: "https://portal/in?code=x&ticket=y"),
    .notTheProtocol, failed("It answered with a redirect to https://portal/in?…."),
    .reconnectLater, 76),
  WebSocketRow(
    .notWebSocket(seen: "", location: "/login"), .notTheProtocol,
    failed("It answered with a redirect to /login."), .reconnectLater, 76),
  WebSocketRow(
    .dropped, .dropped, failed("The server closed the connection during the upgrade to WebSocket."),
    .reconnect, 69),
]

private func tunnel(
  _ status: Int, _ reason: String = "", sentCredentials: Bool = false
) -> WebSocketFailure.Observation {
  .refusedTunnel(status: status, reason: reason, retryAfter: 9, sentCredentials: sentCredentials)
}

private func atProxy(
  _ seen: WebSocketFailure.Observation, _ kind: FailureKind, _ words: String, _ retry: RetryClass,
  _ exit: Int32, in phase: ConnectionPhase = .dial
) -> WebSocketRow {
  WebSocketRow(seen, kind, failed("The proxy p:1 \(words)"), retry, exit, in: phase, at: "p:1")
}

private let proxies: [WebSocketRow] =
  [
    atProxy(
      .nameUnknown, .nameUnknown, "has a name that is unknown.", .reconnect, 68, in: .resolve),
    atProxy(
      .nameTimeout, .nameTimeout, "has a name that was not resolved in time.", .reconnect, 68,
      in: .resolve),
    atProxy(
      .deadline, .nameTimeout, "has a name that was not resolved in time.", .reconnect, 68,
      in: .resolve),
    atProxy(
      .dial(errno: ECONNREFUSED), .refused, "cannot be reached: nothing listens on that port.",
      .reconnectSoon, 69),
    atProxy(
      .dial(errno: EHOSTUNREACH), .unreachable, "cannot be reached: no route leads there.",
      .reconnectSoon, 69),
    atProxy(
      .dial(errno: ETIMEDOUT), .dialTimeout, "cannot be reached: it did not answer within 7 s.",
      .reconnect, 124),
    atProxy(
      .dial(errno: ECONNRESET), .dropped, "closed the connection while connecting.", .reconnect,
      69),
    atProxy(
      .deadline, .silent, "did not open a tunnel to ws.example:443 within 7 s: no answer came.",
      .reconnect, 124),
    atProxy(.dropped, .dropped, "closed the connection before it had answered.", .reconnect, 69),
    atProxy(
      .notProxy(seen: "x", location: nil), .notTheProtocol, "did not answer as an HTTP proxy (x).",
      .reconnectLater, 76),
    atProxy(
      .notProxy(seen: "x", location: "/y"), .notTheProtocol,
      "did not answer as an HTTP proxy (x, redirects to /y).", .reconnectLater, 76),
    atProxy(
      tunnel(407), .proxyRefused(status: 407),
      "requires credentials for ws.example:443 (HTTP status 407).", .needsPerson, 77),
    atProxy(
      tunnel(407, "No", sentCredentials: true), .proxyRefused(status: 407),
      "did not accept the credentials for ws.example:443 (HTTP status 407: No).", .needsPerson, 77),
    atProxy(
      tunnel(429), .proxyRefused(status: 429),
      "has too many requests to open a tunnel to ws.example:443 (HTTP status 429).",
      .reconnectLater, 75),
  ]
  + [400, 403, 405].map {
    atProxy(
      tunnel($0), .proxyRefused(status: $0),
      "does not allow a tunnel to ws.example:443 (HTTP status \($0)).", .needsPerson, 77)
  }
  + [408, 500, 502, 503, 504].map {
    atProxy(
      tunnel($0), .proxyRefused(status: $0),
      "could not open a tunnel to ws.example:443 (HTTP status \($0)).", .reconnect, 69)
  } + [
    // This machine's own, whatever was dialed.
    WebSocketRow(.offline, .offline, .networkUnavailable, .awaitNetwork, 69, in: .dial, at: "p:1"),
    WebSocketRow(
      .dial(errno: EMFILE), .localResource, failed("This machine has no file descriptors left."),
      .reconnect, 75, in: .dial, at: "p:1"),
  ]

private let closes: [WebSocketRow] =
  [
    WebSocketRow(
      .closed(code: 1000, reason: "bye"), .closedByPeer,
      .webSocketDisconnected(code: 1000, reason: "bye"), .never, 0, in: .stream),
    WebSocketRow(
      .closed(code: nil, reason: ""), .linkLost,
      .webSocketDisconnected(code: nil, reason: nil), .reconnect, 69, in: .stream),
    WebSocketRow(
      .closed(code: 1006, reason: ""), .linkLost,
      .webSocketDisconnected(code: nil, reason: nil), .reconnect, 69, in: .stream),
    WebSocketRow(
      .unexplained, .linkLost,
      .webSocketDisconnected(
        code: nil,
        reason: """
          It was ended on this side without a reason, as after a frame that is not allowed.
          """),
      .reconnect, 69, in: .stream),
    WebSocketRow(
      .overLimit(.message, limit: 5), .overLimit,
      .webSocketDisconnected(
        code: nil,
        reason: "A message of the server is longer than the 5 bytes that are taken here."),
      .needsPerson, 78, in: .stream),
    WebSocketRow(
      .overLimit(.header, limit: 5), .overLimit,
      failed("The header of its answer is longer than the 5 bytes that are taken here."),
      .needsPerson, 78),
  ]
  // 1002 also stands for 1012 to 1014, which libwebsockets 4.1 does not know.
  + [1001, 1002, 1005, 1011, 1012, 1013, 1014, 2999, 5000].map {
    WebSocketRow(
      .closed(code: $0, reason: ""), .linkLost,
      .webSocketDisconnected(code: $0, reason: nil), .reconnect, 69, in: .stream)
  }
  + [3000, 4401, 4999].map {
    WebSocketRow(
      .closed(code: $0, reason: ""), .closedByApplication,
      .webSocketDisconnected(code: $0, reason: nil), .reconnect, 69, in: .stream)
  }
  + [1003, 1007, 1008, 1009, 1010].map {
    WebSocketRow(
      .closed(code: $0, reason: ""), .rejected,
      .webSocketDisconnected(code: $0, reason: nil), .never, 76, in: .stream)
  }
  + [
    WebSocketRow(.pingTimeout, .linkSilent, .webSocketPingTimeout, .reconnect, 124, in: .stream),
    WebSocketRow(
      .invalidMessage(detail: "bad UTF-8"), .corrupted,
      .webSocketMessageInvalid(detail: "bad UTF-8"), .reconnectOnce, 76, in: .stream),
    WebSocketRow(
      .internalFault(detail: "lws"), .internalFault, .internalError(detail: "lws"),
      .reconnectOnce, 70, in: .stream),
    WebSocketRow(.cancelled, .cancelled, .cancelled, .never, 130, in: .stream),
  ]

@Suite("A WebSocket failure becomes what the failure table says")
struct WebSocketFailureTests {
  @Test(arguments: dials + tls + upgrades + proxies + closes)
  func everyRow(_ row: WebSocketRow) {
    let (error, context) = (row.failure.typed.error, FailureContext(webSocketFailure: row.failure))
    #expect(error == row.error)
    #expect(context.kind == row.kind)
    #expect(error.retryClass(in: context) == row.retry)
    #expect(error.exitCode(in: context).rawValue == row.exit)
    #expect(context.host == "ws.example" && context.port == 443)
    #expect(AppError(wrapping: row.failure) == row.error)
  }

  @Test(arguments: ["bad host\u{0}", "", "two words"])
  func aHostThatFitsIntoNoURLIsNamedAllTheSame(_ host: String) {
    let name = WebSocketFailure(observation: .nameUnknown, phase: .resolve, host: host)
    #expect(AppError(webSocketFailure: name) == .dnsError(host: PeerText.escaped(host)))
    let late = WebSocketFailure(observation: .deadline, phase: .dial, host: host, timeout: 3)
    #expect(AppError(webSocketFailure: late) == .timeout(seconds: 3))
  }

  @Test func retryAfterAndLocationTravelInTheContext() {
    let busy = WebSocketFailure(observation: refusal(503), phase: .upgrade, host: "h").typed
    #expect(busy.context?.retryAfter == 9)
    #expect(busy.retryAfter == 9)
    let portal = WebSocketFailure(
      observation: .notWebSocket(seen: "", location: "http://portal/\u{1B}"), phase: .upgrade)
    #expect(FailureContext(webSocketFailure: portal).detail == "http://portal/\\x1b")
    #expect(AppError.apiRateLimited(retryAfter: 4).retryAfter() == 4)
    #expect(AppError.sshServerBusy(host: "h", retryAfter: 5).retryAfter() == 5)
    #expect(AppError.sshServerBusy(host: "h", retryAfter: nil).retryAfter() == nil)
  }

  struct Redirect: Sendable {
    var location: String
    var isSecure = false
    var kind: FailureKind
  }

  static let redirects = [
    Redirect(location: "https://ws.example/path", kind: .secureOnly),
    Redirect(location: "HTTPS://WS.example", kind: .secureOnly),
    Redirect(location: "wss://ws.example:443/", kind: .secureOnly),
    Redirect(location: "https://www.ws.example/", kind: .secureOnly),
    Redirect(location: "https://user@ws.example?next=/", kind: .secureOnly),
    Redirect(location: "https://ws.example:44x/", kind: .notTheProtocol),
    Redirect(location: "https:ws.example", kind: .notTheProtocol),
    Redirect(location: "https://ws.example@portal.example/", kind: .notTheProtocol),
    Redirect(location: "http://ws.example/login", kind: .notTheProtocol),
    Redirect(location: "https://portal.example/", kind: .notTheProtocol),
    Redirect(location: "https://ws.example/login", isSecure: true, kind: .notTheProtocol),
    Redirect(location: "/login", kind: .notTheProtocol),
  ]

  @Test(arguments: redirects)
  func aRedirectToTheSecureAddressOfTheSameHostAsksForWss(_ redirect: Redirect) throws {
    let failure = WebSocketFailure(
      observation: .refusedUpgrade(
        status: 301, retryAfter: nil, message: nil, location: redirect.location),
      phase: .upgrade, host: "ws.example", port: 80, isSecure: redirect.isSecure
    ).typed
    #expect(failure.kind == redirect.kind)
    #expect(try #require(failure.hint).contains("wss://") == (redirect.kind == .secureOnly))
    #expect(failure.retryClass(isFirstDial: true) == .needsPerson)
  }

  /// The text names the side that ended it: nothing was damaged, and no server is at fault.
  @Test(arguments: [
    WebSocketFailure.Observation.unexplained, .overLimit(.header, limit: 1),
    .overLimit(.message, limit: 1),
  ])
  func whatThisSideDoesIsNotBlamedOnThePeer(_ seen: WebSocketFailure.Observation) throws {
    let failure = WebSocketFailure(observation: seen, phase: .stream, host: "h").typed
    let text = try failure.shownMessage + " " + #require(failure.hint)
    #expect(!text.contains("damaged on the way") && !text.contains("faulty"), "\(text)")
    #expect(!text.contains("changed network") && !text.contains("port is wrong"), "\(text)")
  }

  @Test func aProxyIsInTheContextOfItsFailuresAlone() throws {
    for row in proxies {
      let context = FailureContext(webSocketFailure: row.failure)
      let isOwn = row.kind != .offline && row.kind != .localResource
      #expect(context.proxy == (isOwn ? "p:1" : nil), "\(row.kind)")
    }
    func hint(_ seen: WebSocketFailure.Observation, _ proxy: String?) throws -> String {
      let failure = WebSocketFailure(observation: seen, phase: .dial, host: "h", proxy: proxy)
      return try #require(failure.typed.error.hint(in: failure.typed.context))
    }
    #expect(try hint(.dropped, "p\u{1B}").contains("about the proxy, not the server"))
    #expect(try !hint(.dropped, nil).contains("proxy"))
    #expect(try hint(tunnel(407), "p").contains("user name and a password"))
    #expect(try hint(tunnel(403), "p").contains("does not allow this host"))
    #expect(
      try hint(.notProxy(seen: "", location: "http://portal/"), "p").contains("browser first"))
    let busy = WebSocketFailure(observation: tunnel(429), phase: .dial, host: "h", proxy: "p\u{1B}")
    #expect(busy.typed.context?.retryAfter == 9 && busy.typed.context?.proxy == "p\\x1b")
  }

  @Test func theNativeSideIsKept() {
    typealias Library = NativeFailure.Library
    let table: [(WebSocketFailure.Observation, Library?, Int)] = [
      (.dial(errno: ECONNREFUSED), .system, Int(ECONNREFUSED)),
      (.closed(code: 1001, reason: "bye"), .libwebsockets, 1001),
      (.closed(code: nil, reason: ""), .libwebsockets, 0), (.nameUnknown, .resolver, 0),
      (.nameTimeout, .resolver, 0), (.tls(.expired), .openssl, 0),
      (.offline, .libwebsockets, 0), (.cancelled, nil, 0), (tunnel(407), nil, 0),
      (.notProxy(seen: "", location: nil), nil, 0),
    ]
    for (seen, library, code) in table {
      let failure = WebSocketFailure(observation: seen, phase: .dial, host: "h")
      let native = FailureContext(webSocketFailure: failure).native
      #expect(native?.library == library)
      #expect(native?.code ?? 0 == code)
    }
  }
}
