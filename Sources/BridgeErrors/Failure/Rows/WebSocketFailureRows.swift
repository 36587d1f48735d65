// Failures of WebSocket alone.
extension FailureRow {
  static func tls(_ cause: FailureKind.TLSCause) -> Self {
    Self(
      "tls.\(cause.rawValue)", cause.words, .webSocket, retry: .needsPerson,
      exit: cause == .notTLS ? .protocolBroken : .hostIdentity, remedy: cause.remedy)
  }

  static func refusedUpgrade(_ status: Int) -> Self {
    let name = "refusedUpgrade.\(status)"
    let meaning = "The upgrade was answered with HTTP status \(status)."
    return switch status {
    // Later the credential may have expired with the connection: a new one is made for each dial.
    case 401, 407:
      Self(
        name, meaning, .webSocket, retry: .reconnectOnce, first: .needsPerson, exit: .refused)
    case 403:
      Self(
        name, meaning, .webSocket, retry: .reconnectOnce, first: .needsPerson, exit: .refused,
        remedy: "The server knows who you are and does not allow this: ask its owner.")
    // Later a gateway answers so while what is behind it is replaced.
    case 404, 410:
      Self(name, meaning, .webSocket, retry: .reconnectLater, first: .never, exit: .unreachable)
    case 409, 423:
      Self(
        name, meaning, .webSocket, retry: .reconnectLater, first: .needsPerson, exit: .busy,
        remedy: """
          The server holds something that excludes a second connection, such as a session that is \
          still open: close that one, or wait until the server has given it up.
          """)
    case 429: Self(name, meaning, .webSocket, retry: .reconnectLater, exit: .busy)
    case 408, 425, 500...599:
      Self(
        name, meaning, .webSocket, exit: .busy,
        remedy: "The server, or something behind it, is down or overloaded."
      )
    default:
      Self(
        name, meaning, .webSocket, retry: .reconnectLater, first: .needsPerson,
        exit: .protocolBroken)
    }
  }

  static func proxyRefused(_ status: Int) -> Self {
    let name = "proxyRefused.\(status)"
    let meaning = "The proxy answered CONNECT with HTTP status \(status)."
    return switch status {
    case 407:
      Self(
        name, meaning, .webSocket, retry: .needsPerson, exit: .refused,
        remedy: """
          The proxy requires a user name and a password, or does not accept the given ones. They \
          are not tried again by themselves: many a proxy locks an account.
          """)
    case 429: Self(name, meaning, .webSocket, retry: .reconnectLater, exit: .busy)
    case 408, 500...599:
      Self(
        name, meaning, .webSocket, exit: .unreachable,
        remedy: """
          The proxy answers, and does not reach the server at this time: the server is down, or \
          its name is unknown to the proxy.
          """)
    default:
      Self(
        name, meaning, .webSocket, retry: .needsPerson, exit: .refused,
        remedy: """
          The proxy does not allow this host or this port (often only 443 is allowed): ask its \
          administrator.
          """)
    }
  }

  static let secureOnly = Self(
    "secureOnly", "The server redirects to a secure address of the same host.", .webSocket,
    retry: .reconnectLater, first: .needsPerson, exit: .protocolBroken,
    remedy: """
      The server accepts secure connections only: use wss:// in place of ws://. The redirect was \
      not followed.
      """)

  static let overLimit = Self(
    "overLimit", "The peer sent more in one piece than this program takes.", .webSocket,
    retry: .needsPerson, exit: .configuration,
    remedy: """
      The limit is this program's, and nothing was damaged: connecting again meets it again. Raise \
      the limit where the program lets you, or let the server send less (fewer cookies, shorter \
      messages).
      """)

  static let closedByPeer = Self(
    "closedByPeer", "The peer closed the connection normally (close code 1000).", .webSocket,
    retry: .never, exit: .success, remedy: "The peer closed the connection normally.")

  static let closedByApplication = Self(
    "closedByApplication", "The peer's application closed with a code of its own.", .webSocket,
    exit: .unreachable,
    advice: { context in
      guard context.isRepeated else {
        return """
          The server's application ended the connection; its documentation names the code.
          """
      }
      return """
        The server ended it with this code \(context.times) times in a row, each right after \
        connecting: it probably asks for a new login, or refuses what this client sends. Its \
        documentation names the code.
        """
    })
}

extension FailureKind.TLSCause {
  fileprivate var remedy: String {
    switch self {
    case .unknownIssuer: "If you trust its issuer, install that CA certificate; else stop here."
    case .selfSigned: "Trust it only after you compared it with what its owner gives you."
    case .expired: "Its owner must renew it; check this machine's clock, too."
    case .notYetValid: "Check this machine's clock first."
    case .wrongName: "Use the name it was made for, or ask the server's administrator."
    case .notTLS: "Use ws:// if that is meant, or the port that speaks TLS."
    case .pinMismatch:
      "The connection may be intercepted: stop until its owner confirms the new certificate."
    case .badSignature:
      "It may be intercepted, or the server's files are damaged: stop, and ask its owner."
    case .weakKey: "The server needs a certificate with a longer key (RSA 2048 bits or more)."
    case .weakDigest: "The server needs a certificate that is signed with SHA-256 or better."
    case .revoked: "Stop here: its key may be in other hands. The server needs a new certificate."
    case .invalidCertificate:
      "The server's administrator can check its chain with `openssl verify -purpose sslserver`."
    case .identityRequired: "Its administrator issues one: the client is given it with its key."
    case .identityRefused:
      "It may have expired, or be of another authority than the server's: its log says which."
    }
  }
}
