import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSupervision
import BridgeTransport
import Narration

/// A key is taken off the server while the link is up. The link drops, the login is refused, and
/// nothing is tried again until a person has seen to it: a second refusal would only bring the
/// account closer to being locked.
@main
enum AuthFailure {
  static func main() async {
    await Story.tell("ssh-auth-failure", within: .seconds(60)) { story in
      let server = try await SSHServer()
      do { try await tell(story, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  private static func tell(_ story: Story, _ server: SSHServer) async throws {
    let supervisor = Supervisor(clock: ContinuousClock(), seed: story.options.seed)
    var watch = Watch(supervisor.events(), in: story)
    let configuration = SSHConfiguration(for: server)
    let endpoint = Endpoint(host: "127.0.0.1", port: server.port)
    let link = try await supervisor.add("workshop", to: endpoint) { endpoint in
      SSHConnection(to: endpoint, configuration: configuration)
    }
    try await watch.untilUp()

    await story.say(.fault, "the server forgets the key and drops the link")
    try await server.revokeIdentities()
    await server.killSessions()
    let seen = try await watch.untilShown("sshAuthenticationFailed")

    let refused = AppError.sshAuthenticationFailed(method: "publickey")
    await story.hold("the error names the method", seen.errors.last == refused)
    await story.hold(
      "a person is asked", await supervisor.shown?.plan?.next == .askPerson)
    let offers = await server.log.count(of: "Failed publickey")
    await story.hold("the key was offered once and refused once", offers == 1)

    await story.say(.person, "puts the key back and chooses Reconnect")
    try await server.authorizeIdentity()
    await supervisor.choose(.reconnect)
    try await watch.untilUp()
    let answer = try await link.connection.answer(to: "echo back at work")
    await story.hold("the link carries commands again", answer == "back at work")
    await story.hold("nothing is shown any more", await supervisor.shown == nil)
    await story.hold(
      "no second refusal", await server.log.count(of: "Failed publickey") == offers)
    await supervisor.shutDown()
  }
}

extension String {
  /// How often `part` is in it.
  fileprivate func count(of part: String) -> Int { ranges(of: part).count }
}
