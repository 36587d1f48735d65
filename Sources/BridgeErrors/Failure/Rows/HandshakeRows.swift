// Failures between the first byte and a usable connection, of any transport.
extension FailureRow {
  static let silent = Self(
    "silent", "The peer accepted the connection and did not answer in time.", exit: .timedOut,
    advice: {
      guard $0.detail == nil else {
        return """
          The ProxyCommand runs, and nothing came through it: run it by hand to see how far it \
          gets.
          """
      }
      guard $0.phase.isBeforeSession else {
        return """
          The connection was up, and then nothing came \($0.phase.during): the network in between \
          is dead, or the host hangs.
          """
      }
      guard $0.phase != .keyExchange else {
        return """
          It answered, and then nothing came during key exchange: it is overloaded, or large \
          packets are lost on the way (the MTU of a VPN or a tunnel).
          """
      }
      return """
        It accepted the connection and gave no whole answer \($0.phase.during): it is overloaded, \
        something else listens on that port, or the network in between passes hardly anything.
        """
    })

  static let throttled = Self(
    "throttled", "The server has too many connections.", .ssh, retry: .reconnectLater, exit: .busy,
    cost: .throttled)

  static let dropped = Self(
    "dropped", "The peer closed the connection before it was usable.", exit: .unreachable,
    cost: .ended,
    advice: { context in
      guard context.detail == nil else {
        return "The server may never have been reached: run that command by hand to see why."
      }
      if context.phase == .authenticate {
        return """
          The link broke during the login, the server is restarting, or it allows a login only so \
          much time (LoginGraceTime of sshd, 120 s by default).
          """
      }
      guard context.isRepeated else {
        return """
          The server may be restarting, or it turns this address away (a firewall, fail2ban): its \
          log says which.\(context.otherScheme)
          """
      }
      return """
        The server drops us \(context.phase.during), \(context.times) times in a row: it turns \
        this address away (a firewall, fail2ban, MaxStartups), or it can serve no client. Its log \
        says which.\(context.otherScheme)
        """
    })

  /// A captive portal goes away, and a host that was up once is the same: later it is tried again.
  static let notTheProtocol = Self(
    "notTheProtocol", "The answer belongs to another protocol.", retry: .reconnectLater,
    first: .needsPerson, exit: .protocolBroken,
    advice: { context in
      guard let detail = context.detail else {
        return """
          The port is wrong, or a proxy, or the login page of a network (a captive portal), \
          answers instead.
          """
      }
      let place = Payload.shown(detail)
      // A portal leads to a page of its own, and no browser opens the others.
      if detail.hasPrefix("/"), !detail.hasPrefix("//") {
        return "The server has it at another path: connect to \(place) there."
      }
      if ["ws://", "wss://"].contains(where: { detail.lowercased().hasPrefix($0) }) {
        return "The server leads elsewhere: connect to \(place)."
      }
      return """
        A captive portal or a proxy answers instead, and leads to \(place): open that in a browser \
        first.
        """
    })

  static let corrupted = Self(
    "corrupted", "The data violates the protocol.", retry: .reconnectOnce, exit: .protocolBroken,
    remedy: "The data was damaged on the way, or the peer is faulty.")

  static let rejected = Self(
    "rejected", "The peer ended the connection and said that it will not accept it.",
    retry: .never, exit: .protocolBroken,
    remedy: "The server ended it on purpose; its log says more.")

  static let linkLost = Self(
    "linkLost", "A connection that was up was cut.", exit: .unreachable,
    endingSession: .outcomeUnknown,
    advice: { context in
      if context.native?.closeCode != nil || context.disconnectReason != nil {
        return "The server ended the connection itself; its log says why."
      }
      guard context.native?.symbol == NativeFailure.unexplained else {
        return "The link was up and was cut: a restart, a sleeping machine, a changed network."
      }
      return """
        No end came from the server, and no fault was seen. If it happens again and again, the \
        server or a proxy in between sends frames that the WebSocket protocol does not allow.
        """
    })

  static let linkSilent = Self(
    "linkSilent", "A connection that was up went silent until it was declared dead.",
    exit: .timedOut, endingSession: .outcomeUnknown,
    remedy: """
      The link was up and went silent: a dead network in between, or a host that hangs. If this \
      comes too early, allow more time before a link is declared dead.
      """)
}

extension FailureContext {
  /// So many equal endings in a row are no accident.
  private static let manyTimes = 3

  var times: Int { repeats ?? 1 }

  var isRepeated: Bool { times >= Self.manyTimes }

  /// What a server does without a word to a client that speaks TLS where it does not, or does not
  /// where it does.
  fileprivate var otherScheme: String {
    phase == .upgrade
      ? " It may also be a port for the other scheme: ws:// is plain, wss:// speaks TLS." : ""
  }
}
