import NIOCore
import NIOHTTP1
import NIOWebSocket

/// The bytes a script answers an upgrade request with, and what comes after them.
enum WebSocketAnswer {
  /// The byte-level script for a connection whose request has come. Only an accepted upgrade goes
  /// on with the script's steps.
  static func script(
    _ script: WebSocketScript, for request: WebSocketRequest, on channel: any Channel
  ) -> PeerScript {
    let steps = script.steps.flatMap(\.lowered)
    switch script.upgrade {
    case .accept(let subprotocol, var headers):
      headers["Sec-WebSocket-Protocol"] = subprotocol
      let accept = accept(request.headers["sec-websocket-key"], on: channel)
      return PeerScript([.send(switching(accept, headers))] + steps)
    case .wrongAccept:
      let another = accept("bm90IHRoZSBrZXkgc2VudA==", on: channel)
      return PeerScript([.send(switching(another, [:]))] + steps)
    case .refuse(let status, let headers, let body):
      return [.send(refusal(status, headers, body)), .finish]
    case .raw(let bytes): return [.send(bytes)]
    case .stall: return []
    }
  }

  private static func switching(_ accept: String, _ headers: [String: String]) -> String {
    let own = ["Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept]
    return head(101, own.merging(headers) { $1 })
  }

  private static func refusal(
    _ status: Int, _ headers: [String: String], _ body: String
  ) -> String {
    let own = ["Content-Length": "\(body.utf8.count)", "Connection": "close"]
    return head(status, own.merging(headers) { $1 }) + body
  }

  private static func head(_ status: Int, _ headers: [String: String]) -> String {
    let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
    let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }
    return "HTTP/1.1 \(status) \(phrase)\r\n\(fields.joined())\r\n"
  }

  /// The Sec-WebSocket-Accept for a key, as NIO computes it.
  private static func accept(_ key: String?, on channel: any Channel) -> String {
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    let fields: HTTPHeaders = [
      "Sec-WebSocket-Key": key ?? "", "Sec-WebSocket-Version": "13",
    ]
    let request = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/", headers: fields)
    var accept = ""
    // Answered before it returns: nothing in it waits.
    upgrader.buildUpgradeResponse(
      channel: channel, upgradeRequest: request, initialResponseHeaders: [:]
    )
    .assumeIsolated().whenSuccess { accept = $0.first(name: "Sec-WebSocket-Accept") ?? "" }
    return accept
  }
}
