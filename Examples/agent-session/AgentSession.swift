import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Foundation
import Narration

/// An agent runs on the host and asks for approvals, one JSON line each. The link is reset again
/// and again, and the client that answers is killed twice: each request is answered exactly once.
@main
enum AgentSession {
  private static let requests = 40
  /// The client is killed when it has recorded so many answers.
  private static let deaths = [11, 23]

  static func main() async {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[1] == "--client" {
      await ApprovalClient.run(settings: arguments[2])
    }
    await Story.tell("agent-session", within: .seconds(280)) { story in
      let server = try await SSHServer()
      do { try await tell(story, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  /// The agent waits for the answer to each of its requests, and writes down what it gets.
  private static func agent(writing file: String) -> String {
    """
    n=0; while [ $n -lt \(requests) ]; do n=$((n+1)); \
    printf "{\\"request\\":%d,\\"text\\":\\"may I go on?\\"}\\n" $n; \
    read -r answer || exit 9; echo "$answer" >> "\(file)"; sleep 0.05; done; exit 6
    """
  }

  private static func tell(_ story: Story, _ server: SSHServer) async throws {
    let proxy = try await FaultProxy(to: server.port, seed: story.options.seed)
    // The home directory that this server gives its users.
    let folder = URL(filePath: server.identityFile).deletingLastPathComponent()
    let answers = folder.appending(path: "answers").path
    let settings = folder.appending(path: "client.json").path
    try ApprovalState(
      command: agent(writing: answers), user: server.user, identity: server.identityFile,
      port: proxy.port
    ).save(to: settings)

    await story.say(.fault, "each link is reset 200 ms after its login")
    let breaking = Task { await reset(proxy) }
    var status: Int32 = 0
    for death in deaths.map(Optional.some) + [nil] {
      let client = try Client(settings: settings)
      while client.isRunning, try ApprovalState(at: settings).answered < death ?? requests {
        try await ContinuousClock().sleep(for: .milliseconds(2))
      }
      if let death {
        client.kill()
        await story.say(.fault, "the client was killed after \(death) recorded answers")
      } else {
        // What the end of a session needs takes longer than a link lives, on a slow machine.
        breaking.cancel()
      }
      status = await client.end()
    }
    let dials = await proxy.log.compactMap(\.connection).max() ?? 0
    await story.say(.recovery, "\(dials) links")
    await story.hold("the exit status is that of the agent", status == 6)
    let expected = (1...requests).map { "{\"answer\":\($0)}\n" }.joined()
    let got = (try? String(contentsOfFile: answers, encoding: .utf8)) ?? ""
    await story.hold("every request was answered exactly once", got == expected)
    await story.hold("more links than lives of the client", dials > deaths.count + 1)
    await story.hold("nothing is left on the host", try await isEmptied(folder))
    await proxy.stop()
  }

  /// Whether the host has removed the session, within half a minute.
  private static func isEmptied(_ home: URL) async throws -> Bool {
    let sessions = home.appending(path: ".local/state/bridge/s").path
    for _ in 0..<600 {
      let left = (try? FileManager.default.contentsOfDirectory(atPath: sessions)) ?? []
      if left.allSatisfy({ $0.hasPrefix(".") }) { return true }
      try await ContinuousClock().sleep(for: .milliseconds(50))
    }
    return false
  }

  /// Resets each link 200 ms after its login, which takes some 3 KB.
  private static func reset(_ proxy: FaultProxy) async {
    var last = 0
    while !Task.isCancelled {
      try? await ContinuousClock().sleep(for: .milliseconds(5))
      let open = await proxy.connections
      guard let number = open.keys.max(), number > last, open[number]?.toClient ?? 0 > 3_500
      else { continue }
      last = number
      try? await ContinuousClock().sleep(for: .milliseconds(200))
      if !Task.isCancelled { try? await proxy.inject(.reset) }
    }
  }
}

/// This program as a client, in a process of its own.
private final class Client: Sendable {
  private let process: Process
  private let ended: AsyncStream<Int32>

  init(settings: String) throws {
    let (stream, sink) = AsyncStream.makeStream(of: Int32.self)
    ended = stream
    process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--client", settings]
    process.terminationHandler = { process in
      sink.yield(process.terminationStatus)
      sink.finish()
    }
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// Without a word to the host: as when the machine loses power.
  func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

  func end() async -> Int32 {
    for await status in ended { return status }
    return -1
  }
}
