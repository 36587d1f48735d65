extension CatalogueRow {
  static func networkUnavailable() -> Self {
    Self(
      "networkUnavailable", .network,
      cause: "This machine has no working network: no interface is up, or its link was lost.",
      remedy: """
        Check the cable, the Wi-Fi or the VPN. A waiting connection continues by itself when \
        the network is back.
        """,
      title: "No Connection", message: "Check your internet connection and try again.",
      icon: "wifi.slash", options: [.openSettings, .retry], severity: .warning,
      automatic: .repeatOperation, exit: .unreachable, tool: .network)
  }

  static func timeout(_ seconds: Int) -> Self {
    Self(
      "timeout", .network,
      cause: "The other side took longer than the time allowed for one request.",
      remedy: "Check that the host is up and not overloaded, or allow more time.",
      title: "Request Timeout",
      message: "The request took longer than \(seconds) seconds. Please try again.",
      icon: "clock.badge.exclamationmark", options: [.retry, .cancel],
      automatic: .repeatOperation, exit: .timedOut, tool: .network)
  }

  static func serverError(_ status: Int, _ message: String?) -> Self {
    let isTransient = status == 0 || status == 408 || status == 425 || 500...599 ~= status
    return Self(
      "serverError", .network,
      cause: """
        The server failed (status 500 and above), or refused the request (below: check the \
        address, the headers and your permissions).
        """,
      remedy: isTransient
        ? "The problem is on the server: wait, and check its log."
        : "The server refused it: check the address, the headers and your permissions.",
      title: "Server Error",
      message: message.map { "Server returned error \(status): \(Payload.exact($0))" }
        ?? "The server encountered an error (\(status)). Please try again later.",
      icon: "server.rack", options: [.retry, .cancel], metadata: ["http_status": "\(status)"],
      automatic: isTransient ? .repeatOperation : .needsPerson,
      exit: isTransient ? .busy : .refused, tool: .network)
  }

  static func sslError(_ description: String) -> Self {
    Self(
      "sslError", .network,
      cause: """
        The server's certificate is unknown, expired, for another name, or not the pinned one.
        """,
      remedy: """
        Do not continue before you know why: check the name you typed, this machine's clock and \
        its CA certificates, and ask the server's administrator.
        """,
      fact: "The server could not prove who it is: \(Payload.sentence(description))",
      exit: .hostIdentity, tool: .network)
  }

  static func dnsError(_ host: String) -> Self {
    Self(
      "dnsError", .network,
      cause: "No name server knows the host, or none answered in time.",
      remedy: """
        Check the spelling, and the HostName in your configuration. If the name is right, check \
        this machine's DNS (`getent hosts NAME`).
        """,
      fact: "The name \(Payload.shown(host)) could not be resolved.",
      automatic: .repeatOperation, exit: .nameUnknown, tool: .network)
  }
}
