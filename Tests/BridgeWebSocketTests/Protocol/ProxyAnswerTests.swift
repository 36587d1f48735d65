import BridgeErrors
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite("The answer of a proxy") struct ProxyAnswerTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let text: String
    let state: ProxyAnswer.State
    /// What follows the head.
    var rest = ""
    var testDescription: String { String(text.prefix(40)) }

    init(_ text: String, _ state: ProxyAnswer.State, rest: String = "") {
      self.text = text
      self.state = state
      self.rest = rest
    }
  }

  private static func head(_ status: Int, _ reason: String = "") -> ProxyAnswer.Head {
    var answer = ProxyAnswer()
    _ = answer.take(Array("HTTP/1.1 \(status) \(reason)\r\n\r\n".utf8))
    guard case .complete(let head) = answer.state else { preconditionFailure() }
    return head
  }

  private static func head(
    _ status: Int, _ reason: String, retryAfter: String? = nil, location: String? = nil
  ) -> ProxyAnswer.Head {
    var head = head(status, reason)
    (head.retryAfter, head.location) = (retryAfter, location)
    return head
  }

  private static let malformed = ProxyAnswer.State.refused("its status line is malformed")
  private static let other = ProxyAnswer.State.refused("it sent no HTTP answer")
  private static let long = ProxyAnswer.State.refused("its answer is longer than 8 KiB")
  private static let fill = String(repeating: "a: b\r\n", count: ProxyAnswer.limit / 6 - 4)

  static let cases = [
    Case("HTTP/1.1 200 OK\r\n\r\n", .complete(head(200, "OK"))),
    Case("HTTP/1.0 200\r\n\r\n", .complete(head(200))),
    Case("HTTP/1.1 200 OK\n\n", .complete(head(200, "OK"))),
    Case("HTTP/1.1 204 a b\r\nVia: x\r\n\r\n", .complete(head(204, "a b"))),
    Case("HTTP/1.1 200 OK\r\n\r\n\u{16}\u{3}", .complete(head(200, "OK")), rest: "\u{16}\u{3}"),
    Case(
      "HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200 OK\r\n\r\nx", .complete(head(200, "OK")), rest: "x"),
    Case(
      "HTTP/1.1 103 Hints\r\nLocation: /no\r\n\r\nHTTP/1.1 407 No\r\n\r\n",
      .complete(head(407, "No"))),
    Case(
      "HTTP/1.1 503 Busy\r\nretry-AFTER:  7 \r\nRetry-After: 9\r\n\r\n",
      .complete(head(503, "Busy", retryAfter: "7"))),
    Case(
      "HTTP/1.1 302 Found\r\nLocation: http://portal/\r\nno colon\r\n\r\n",
      .complete(head(302, "Found", location: "http://portal/"))),
    Case("HTTP/1.1 101 Switch\r\n\r\n", .complete(head(101, "Switch"))),
    Case("", .incomplete), Case("HTTP/1.1 200 OK\r\n", .incomplete),
    Case("HTTP/1.1 100 Wait\r\n\r\n", .incomplete),
    Case("SSH-2.0-OpenSSH_9.2\r\n", other), Case("\r\n\r\n", other), Case("\n", malformed),
    Case("\u{5}\u{0}", other), Case("HTTP/2 200\r\n\r\n", other),
    Case("HTTP/1.1 20 OK\r\n\r\n", malformed), Case("HTTP/1.1 2000\r\n\r\n", malformed),
    Case("HTTP/1.1 099 x\r\n\r\n", malformed), Case("HTTP/1.1 600 x\r\n\r\n", malformed),
    Case("HTTP/1.1 abc\r\n\r\n", malformed), Case("HTTP/1.x 200 x\r\n\r\n", malformed),
    Case("HTTP/1.1\r\n\r\n", malformed),
    Case("HTTP/1.1 200 \(fill)\r\n", .complete(head(200, "a: b"))),
    Case("HTTP/1.1 200 \(fill)\(fill)", long),
    Case("HTTP/1.1 " + String(repeating: "9", count: ProxyAnswer.limit), long),
  ]

  @Test("each one, whole and cut at every byte", arguments: cases)
  func everyCut(_ row: Case) {
    let bytes = Array(row.text.utf8)
    var whole = ProxyAnswer()
    let used = whole.take(bytes)
    #expect(whole.state == row.state)
    if case .complete = row.state {
      #expect(String(decoding: bytes.dropFirst(used), as: UTF8.self) == row.rest)
    }
    let cuts = bytes.count < 256 ? Array(0...bytes.count) : [1, 100, bytes.count - 1]
    for cut in cuts {
      var answer = ProxyAnswer()
      var taken = answer.take(Array(bytes[..<cut]))
      if taken == cut { taken += answer.take(Array(bytes[cut...])) }
      #expect(answer.state == whole.state && taken == used, "cut at \(cut)")
    }
  }

  @Test("so many bytes of an answer are taken, and not one more", arguments: [0, 1])
  func limit(more: Int) {
    let start = "HTTP/1.1 200 OK\r\na: "
    let count = ProxyAnswer.limit - start.utf8.count - 4 + more
    var answer = ProxyAnswer()
    _ = answer.take(Array((start + String(repeating: "b", count: count) + "\r\n\r\n").utf8))
    #expect(answer.state == (more == 0 ? .complete(Self.head(200, "OK")) : Self.long))
  }

  @Test("the request names the server, and has the credentials where there are some")
  func request() {
    let proxy = Endpoint(host: "proxy.example", port: 3128)
    let plain = ProxyRequest.bytes(
      to: Endpoint(host: "server.example", port: 443), by: WebSocketProxy(at: proxy))
    let lines = "CONNECT server.example:443 HTTP/1.1\r\nHost: server.example:443\r\n"
    #expect(String(decoding: plain, as: UTF8.self) == lines + "\r\n")
    // RFC 7617, 2.
    let secret = WebSocketProxy(at: proxy, credentials: Secret("Aladdin:open sesame"))
    let known = ProxyRequest.bytes(to: Endpoint(host: "::1", port: 443), by: secret)
    #expect(
      String(decoding: known, as: UTF8.self) == """
        CONNECT [::1]:443 HTTP/1.1\r
        Host: [::1]:443\r
        Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r
        \r\n
        """)
  }

  @Test(
    "credentials of every length are encoded (RFC 4648, 10)",
    arguments: [
      ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"), ("\u{FFFD}?>", "77+9Pz4="),
    ])
  func encoding(plain: String, encoded: String) {
    let endpoint = Endpoint(host: "h", port: 1)
    let bytes = ProxyRequest.bytes(
      to: endpoint, by: WebSocketProxy(at: endpoint, credentials: Secret(plain)))
    #expect(String(decoding: bytes, as: UTF8.self).contains(": Basic \(encoded)\r\n"))
  }

  @Test("no description of a proxy has its credentials, or a control character")
  func description() {
    let proxy = WebSocketProxy(
      at: Endpoint(host: "h\u{1B}", port: 1), credentials: Secret("user:password"), source: "V\n")
    for text in ["\(proxy)", String(reflecting: proxy)] {
      #expect(!text.contains("user") && !text.contains("password"), "\(text)")
    }
    #expect("\(proxy)" == "h\\x1b:1 (V )")
    #expect(proxy == proxy)
    #expect(
      proxy != WebSocketProxy(at: proxy.endpoint, credentials: Secret("user:other"), source: "V\n"))
  }
}
