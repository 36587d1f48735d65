import BridgeErrors
import BridgeReactor
import BridgeTransport

/// A connection through an HTTP proxy: the proxy is dialed and asked for a tunnel here, and
/// libwebsockets gets the socket when the tunnel is open.
///
/// libwebsockets 4.1 can send CONNECT itself, but reports a refusal, another protocol and a close
/// alike, and so would leave a person without the reason.
extension WebSocketConnection {
  /// A socket whose other end is the server.
  func openTunnel(by proxy: WebSocketProxy) async throws(WebSocketFailure) -> Socket {
    isAtProxy = true
    let socket = try await dialProxy()
    do throws(WebSocketFailure) {
      try await requestTunnel(over: socket, by: proxy)
    } catch {
      socket.close()
      throw error
    }
    isAtProxy = false
    return socket
  }

  private func dialProxy() async throws(WebSocketFailure) -> Socket {
    let (observer, timeouts) = (configuration.observer, configuration.timeouts)
    let outcome: Result<Socket, DialFailure>
    do throws(DialFailure) {
      outcome = .success(
        try await route.dial(
          resolveTimeout: timeouts.resolve, dialTimeout: timeouts.dial,
          observe: { observer?(.dial($0)) },
          entered: { [weak self] phase in
            self?.assumeIsolated { if $0.ending == nil { $0.enter(phase) } }
          }))
    } catch {
      outcome = .failure(error)
    }
    switch outcome {
    case .success(let socket):
      guard let ending else { return socket }
      socket.close()
      throw ending
    case .failure(let dial):
      if let ending { throw ending }
      guard dial.phase == .dial, dial.cause == .deadline else { throw failure(dialing: dial) }
      throw failure(.dial(errno: Self.timedOut), in: .dial)
    }
  }

  /// ETIMEDOUT (errno(3), Linux).
  private static let timedOut: Int32 = 110

  private func requestTunnel(
    over socket: Socket, by proxy: WebSocketProxy
  ) async throws(WebSocketFailure) {
    let handshake = ProxyHandshake(
      over: socket, ProxyRequest.bytes(to: endpoint, by: proxy), on: reactor)
    self.handshake = handshake
    defer { self.handshake = nil }
    let outcome: Result<ProxyAnswer.Head, ProxyHandshake.Failure>
    do throws(ProxyHandshake.Failure) {
      outcome = .success(try await handshake.head(within: configuration.timeouts.dial))
    } catch {
      outcome = .failure(error)
    }
    if let ending { throw ending }
    switch outcome {
    case .success(let head): try check(head, sentCredentials: proxy.credentials != nil)
    case .failure(.deadline): throw failure(.deadline, in: .dial)
    case .failure(.dropped): throw failure(.dropped, in: .dial)
    case .failure(.notProxy(let seen)):
      throw failure(.notProxy(seen: seen, location: nil), in: .dial)
    case .failure(.unavailable):
      throw failure(.internalFault(detail: "the reactor cannot watch the socket"), in: .dial)
    case .failure(.cancelled): throw failure(.cancelled, in: .dial)
    }
  }

  private func check(
    _ head: ProxyAnswer.Head, sentCredentials: Bool
  ) throws(WebSocketFailure) {
    configuration.observer?(.tunnel(status: head.status))
    if head.isTunnel { return }
    guard head.status >= 400 else {
      let seen = "HTTP status \(head.status)"
      let location = (300..<400).contains(head.status) ? head.location : nil
      throw failure(.notProxy(seen: seen, location: location), in: .dial)
    }
    let retryAfter = head.retryAfter.flatMap { RetryAfter.secondsFromNow($0) }
    throw failure(
      .refusedTunnel(
        status: head.status, reason: head.reason, retryAfter: retryAfter,
        sentCredentials: sentCredentials), in: .dial)
  }
}
