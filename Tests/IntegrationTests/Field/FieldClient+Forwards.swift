import BridgeFaults
import Foundation

extension FieldClient {
  /// A mebibyte through a forwarded port, with a half-close.
  func forward() async throws -> Finding { try await forwarded(breaks: false) }

  /// A port that still works after an outage.
  func forwardThroughOutage() async throws -> Finding { try await forwarded(breaks: true) }

  private static let python = "/usr/bin/python3"

  /// Sends back what comes, on a port that it prints.
  private static let echo = """
    import socket, threading
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    def serve(connection):
        with connection:
            while data := connection.recv(65536):
                connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """

  /// Exchanges bytes over the port of argument 1, prints "exchanged", and again once the file of
  /// argument 2 is there. A connection that the outage takes is made again.
  private static let exchange = """
    import os, socket, sys, threading, time
    def once(size):
        data = os.urandom(size)
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=30) as s:
            def send():
                try:
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
            sender = threading.Thread(target=send)
            sender.start()
            got = bytearray()
            while part := s.recv(65536):
                got += part
            sender.join()
            return got == data
    def until_it_works(size):
        while True:
            try:
                if once(size):
                    print("exchanged", flush=True)
                    return
            except OSError:
                pass
            time.sleep(0.1)
    until_it_works(int(sys.argv[3]))
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    until_it_works(1000)
    """

  private func forwarded(breaks: Bool) async throws -> Finding {
    let server = try start(["-c", Self.echo], program: Self.python)
    defer { server.child.signal(SIGKILL) }
    guard try await printed("\n", by: server) else { return .wrong("no echo server") }
    let port = home.read("out-\(server.name)").split(separator: "\n")[0]
    let local = try await FaultProxy(to: 9)
    await local.stop()
    let running = try start(
      ["connect", "-N", "-L", "\(local.port):127.0.0.1:\(port)"] + link + [target])
    let size = world.world.network.bytesPerSecond == nil ? 1 << 20 : 1 << 18
    let client = try start(
      ["-c", Self.exchange, "\(local.port)", shared("go"), "\(size)"], program: Self.python)
    defer { client.child.signal(SIGKILL) }
    while running.isAlive {
      let text = home.read("out-\(client.name)")
      if text.hasPrefix("exchanged"), !FileManager.default.fileExists(atPath: shared("go")) {
        if breaks { try await world.breakLinks() }
        try letGo()
      }
      if text == "exchanged\nexchanged\n" {
        running.child.signal(SIGINT)
        let code = try await end(running).code
        return code == 130 ? .right() : .wrong("status \(code) after Ctrl-C")
      }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    return Finding(stoppedBy: try await end(running), "connect -N")
  }
}
