import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Foundation
import Narration

/// The host comes back with another key: a reinstalled machine, or an interception. No person is
/// told who the user is, no other link dials that host either, and a person decides.
@main
enum HostKeyChange {
  static func main() async {
    await Story.tell("ssh-host-key-change", within: .seconds(60)) { story in
      let server = try await SSHServer()
      let known = FileManager.default.temporaryDirectory.path + "/known-hosts-\(server.port)"
      defer { try? FileManager.default.removeItem(atPath: known) }
      do { try await tell(story, server, known) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  private static func tell(_ story: Story, _ server: SSHServer, _ known: String) async throws {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
    var watch = Watch(supervisor.events(), in: story)
    let configuration = SSHConfiguration(
      for: server, hostKeys: .init(files: [known], unknown: .acceptNew))
    let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
    var links: [Link<SSHConnection>] = []
    for id: ConnectionID in ["editor", "terminal"] {
      links.append(
        try await supervisor.add(id, to: endpoint) { endpoint in
          SSHConnection(to: endpoint, configuration: configuration)
        })
      try await watch.untilUp()
    }

    await story.say(.fault, "the host is reinstalled: same address, another key")
    let logged = await server.log.count
    try await server.swapHostKeys()
    let seen = try await watch.untilShown("sshHostKeyMismatch")
    let shown = await supervisor.shown
    await story.hold("it is the host key", shown?.error.caseName == "sshHostKeyMismatch")
    await story.hold("it is not tried again by itself", shown?.plan?.next == .askPerson)
    await story.hold("nothing was dialed after it", seen.dialsAfterMismatch == 0)
    let since = await server.log.dropFirst(logged)
    await story.hold("the new host was not told the user's name", !since.contains(server.user))

    await story.say(.person, "asks the administrator, writes the new key down, reconnects")
    try await server.knownHosts.write(toFile: known, atomically: true, encoding: .utf8)
    for link in links {
      await link.retryNow()
      let answer = try await link.connection.answer(to: "echo \(link.id)")
      await story.hold("\(link.id) is up again", answer == link.id.description)
    }
    await supervisor.shutDown()
  }
}

extension [RecoveryEvent] {
  /// Dials between the first sight of the wrong key and the last event.
  fileprivate var dialsAfterMismatch: Int {
    let first = firstIndex {
      if case .failed(let failure) = $0.step, case .sshHostKeyMismatch = failure.error {
        true
      } else {
        false
      }
    }
    return first.map { self[$0...].attempts } ?? 0
  }
}
