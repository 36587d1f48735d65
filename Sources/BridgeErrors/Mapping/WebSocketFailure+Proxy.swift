#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension WebSocketFailure {
  /// What happened at the proxy, as a sentence; nil for a failure that is not one of a proxy.
  var proxyWords: String? {
    let name = proxy.map { "The proxy \(Payload.shown($0, limit: 320))" } ?? "The proxy"
    switch observation {
    case .refusedTunnel(let status, let reason, _, let sentCredentials):
      let shown = Payload.shown(reason, limit: 128)
      let answer = "HTTP status \(status)" + (shown.isEmpty ? "" : ": \(shown)")
      return "\(name) \(Self.refusal(status, sentCredentials)) \(target) (\(answer))."
    case .notProxy(let seen, let location):
      let lead = location.map { ", redirects to \(Payload.address($0))" } ?? ""
      return "\(name) did not answer as an HTTP proxy (\(Payload.shown(seen, limit: 256))\(lead))."
    case .nameUnknown: return proxy == nil ? nil : "\(name) has a name that is unknown."
    case .nameTimeout:
      return proxy == nil ? nil : "\(name) has a name that was not resolved in time."
    case .dial(let errno): return proxy == nil ? nil : words(errno: errno, of: name)
    case .deadline: return proxy == nil ? nil : lateWords(name)
    case .dropped:
      return proxy == nil ? nil : "\(name) closed the connection before it had answered."
    case .elsewhere, .offline, .tls, .refusedUpgrade, .notWebSocket, .closed, .unexplained,
      .overLimit, .pingTimeout, .invalidMessage, .internalFault, .cancelled:
      return nil
    }
  }

  private static func refusal(_ status: Int, _ sentCredentials: Bool) -> String {
    switch status {
    case 407: sentCredentials ? "did not accept the credentials for" : "requires credentials for"
    case 429: "has too many requests to open a tunnel to"
    case 408, 500...599: "could not open a tunnel to"
    default: "does not allow a tunnel to"
    }
  }

  private var target: String {
    let shown = Payload.shown(host, limit: 256)
    let name = shown.contains(":") ? "[\(shown)]" : shown
    return port.map { "\(name):\($0)" } ?? name
  }

  private func lateWords(_ name: String) -> String {
    guard phase != .resolve else { return "\(name) has a name that was not resolved in time." }
    return "\(name) did not open a tunnel to \(target) within \(timeout) s: no answer came."
  }

  private func words(errno: Int32, of name: String) -> String? {
    switch errno {
    case ECONNREFUSED: "\(name) cannot be reached: nothing listens on that port."
    case ETIMEDOUT: "\(name) cannot be reached: it did not answer within \(timeout) s."
    case ECONNRESET, EPIPE: "\(name) closed the connection while connecting."
    // This machine's own, whatever is dialed.
    case EMFILE, ENFILE, ENOMEM, EADDRNOTAVAIL, ENETDOWN: nil
    default: "\(name) cannot be reached: no route leads there."
    }
  }
}
