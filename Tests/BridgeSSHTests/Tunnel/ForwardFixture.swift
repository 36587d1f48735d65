import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTransport
import Foundation
import Testing

/// Programs at the ends of forwarded connections.
enum Peer {
  /// Reads to the end, then sends all of it back: what comes back proves that the end of one
  /// direction left the other open.
  static let echoAfterEnd = """
    import socket,threading
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(512)
    print(s.getsockname()[1],flush=True)
    def serve(c):
        data=b""
        try:
            while True:
                d=c.recv(65536)
                if not d: break
                data+=d
            c.sendall(data)
        except ConnectionError: pass
        c.close()
    while True:
        c,_=s.accept()
        threading.Thread(target=serve,args=(c,),daemon=True).start()
    """

  /// Connects, sends `count` bytes and its end, and prints the digest of what it got. It reads
  /// before that with the argument "later", and slowly with "slow".
  static let client = """
    import socket,sys,hashlib,threading,time
    data=bytes((i*31+(i>>8))&255 for i in range(int(sys.argv[2])))
    how=sys.argv[3:]
    s=socket.socket()
    if how==["slow"]: s.setsockopt(socket.SOL_SOCKET,socket.SO_RCVBUF,8192)
    s.connect(("127.0.0.1",int(sys.argv[1])))
    h=hashlib.sha256(); n=0
    if how==["later"]:
        while True:
            d=s.recv(65536)
            if not d: break
            n+=len(d)
    try:
        s.sendall(data); s.shutdown(socket.SHUT_WR)
        while True:
            d=s.recv(8192 if how==["slow"] else 65536)
            if not d: break
            n+=len(d); h.update(d)
            if how==["slow"]: time.sleep(.001)
        print(n,h.hexdigest(),hashlib.sha256(data).hexdigest())
    except OSError: print("reset")
    """

  /// Connects, sends a byte, and prints how the connection ended.
  static let waiter = """
    import socket,sys
    s=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
    try:
        s.sendall(b"x")
        print("end" if s.recv(1)==b"" else "data")
    except ConnectionError: print("reset")
    """

  /// Carries connections to a port; so many bytes a second go there, and no more are taken from the
  /// one who sends them.
  static let slowWay = """
    import socket,sys,threading,time
    port,rate=int(sys.argv[1]),int(sys.argv[2])
    s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_RCVBUF,8192)
    s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    def carry(a,b,rate):
        try:
            while True:
                d=a.recv(1024 if rate else 65536)
                if not d: break
                if rate: time.sleep(len(d)/rate)
                b.sendall(d)
            b.shutdown(socket.SHUT_WR)
        except OSError: pass
    while True:
        c,_=s.accept()
        t=socket.create_connection(("127.0.0.1",port))
        for x in ((c,t,rate),(t,c,0)): threading.Thread(target=carry,args=x,daemon=True).start()
    """

  static func run(_ script: String, _ arguments: String...) async throws -> String {
    try await run(script, arguments)
  }

  static func run(_ script: String, _ arguments: [String]) async throws -> String {
    try await Program.output(of: "/usr/bin/env", ["python3", "-c", script] + arguments)
  }

  /// A web server whose every page is the same.
  static func web() async throws -> (RunningProgram, content: String) {
    let program = try await Program.started(
      "python3", "-c",
      """
      import http.server,sys,os
      class H(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              self.send_response(200); self.end_headers()
              self.wfile.write(b"0123456789abcdef"*60000)
          def log_message(self,*a): pass
      s=http.server.ThreadingHTTPServer(("127.0.0.1",0),H)
      print(s.server_address[1],flush=True)
      s.serve_forever()
      """)
    return (program, content: String(repeating: "0123456789abcdef", count: 60_000))
  }
}

/// From a free port, or from `port`, to one of this machine. Without an address the host listens on
/// both of loopback, and one that is free is enough.
func forwardRule(
  to target: Int, at port: Int = 0, on side: ForwardRule.Side = .local
) -> ForwardRule {
  ForwardRule(
    from: .port(address: port == 0 ? nil : "127.0.0.1", port),
    to: .fixed(.port(Endpoint(host: "127.0.0.1", port: target))), on: side)
}

extension Forwarder {
  /// The next event that `select` has something for.
  nonisolated func next<Value>(_ select: (Event) -> Value?) async throws -> Value {
    for await event in events {
      if let value = select(event) { return value }
    }
    throw CancellationError()
  }

  /// The next port that is listened on.
  nonisolated func nextPort() async throws -> Int {
    try await next { if case .listening(_, let port) = $0 { port } else { nil } }
  }

  /// The next connection that is refused: its target, and why.
  nonisolated func nextRefusal() async throws -> (target: String?, error: AppError) {
    try await next {
      if case .refused(_, let target, let error) = $0 { (target, error) } else { nil }
    }
  }
}

/// Runs `body` with a forwarder through `server`, dialed at `port` where that is another one. It is
/// closed after.
func withForwarder(
  _ server: SSHServer, at port: Int? = nil, _ limits: Forwarder.Limits = .longWait,
  link: @escaping @Sendable () async throws(AppError) -> Void = { () throws(AppError) in },
  _ body: (Forwarder) async throws -> Void
) async throws {
  try await withForwarder(
    Endpoint(host: "127.0.0.1", port: port ?? server.port), trusting(server), limits, link: link,
    body)
}

extension Forwarder.Limits {
  /// Beside many other tests a login may take longer than a user's connection waits for it.
  static var longWait: Self {
    var limits = Self()
    limits.wait = .seconds(60)
    return limits
  }
}

/// Runs `body` with a forwarder through the server at `endpoint`.
func withForwarder(
  _ endpoint: Endpoint, _ configuration: SSHConfiguration, _ limits: Forwarder.Limits = .longWait,
  link: @escaping @Sendable () async throws(AppError) -> Void = { () throws(AppError) in },
  _ body: (Forwarder) async throws -> Void
) async throws {
  let reactor = ReactorGroup.shared.next()
  let forwarder = Forwarder(
    through: "127.0.0.1", limits: limits, on: reactor, link: link,
    session: { () async throws(AppError) -> SSHConnection in
      let connection = SSHConnection(to: endpoint, configuration: configuration, on: reactor)
      try await connection.connect()
      return connection
    })
  do {
    try await body(forwarder)
  } catch {
    await forwarder.close()
    throw error
  }
  await forwarder.close()
  #expect(OpenSockets.to(port: endpoint.port).isEmpty)
}
