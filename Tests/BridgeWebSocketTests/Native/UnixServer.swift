import Foundation

/// The WebSocket server of Python's `websockets` at a unix socket: it says which Host was asked
/// for, and echoes.
final class UnixServer: Sendable {
  struct NotReady: Error {}

  let path: String
  private let pid: Int32

  private static let program = """
    import asyncio, sys, websockets
    async def talk(socket, *_):
        await socket.send(socket.request_headers["Host"])
        async for message in socket:
            await socket.send(message)
    async def main():
        async with websockets.unix_serve(talk, sys.argv[1], max_size=None):
            print("ready", flush=True)
            await asyncio.Future()
    asyncio.run(main())
    """

  /// A server at a path of its own, which listens.
  init(at path: String) async throws {
    self.path = path
    let command = Process()
    command.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    command.arguments = ["-c", Self.program, path]
    let output = Pipe()
    command.standardOutput = output
    try command.run()
    pid = command.processIdentifier
    guard try output.fileHandleForReading.read(upToCount: 5)?.count == 5 else { throw NotReady() }
  }

  /// Its sockets are closed by the kernel when this returns; its file stays.
  func kill() {
    Foundation.kill(pid, SIGKILL)
    var information = unsafe siginfo_t()
    _ = unsafe waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
  }

  /// It does nothing any more, and its sockets stay open.
  func freeze() { Foundation.kill(pid, SIGSTOP) }
}
