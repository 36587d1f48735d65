import BridgeErrors
import BridgeFaults
import BridgeSupervision
import BridgeTransport
import Narration

/// Two hundred links to one host, and the host restarts. All notice in the same moment; what
/// must not follow is two hundred dials, because sshd's default (MaxStartups 10:30:100) turns away
/// a crowd, and a crowd that is turned away comes back.
@main
enum RetryStorm {
  static let links = 200

  static func main() async {
    await Story.tell("retry-storm", within: .seconds(280)) { story in
      var configuration = SSHServerConfiguration()
      configuration.maxStartups = nil
      let server = try await SSHServer(configuration)
      do { try await tell(story, server) } catch {
        await server.stop()
        throw error
      }
      await server.stop()
    }
  }

  private static func tell(_ story: Story, _ server: SSHServer) async throws {
    let crowd = try await Crowd(links, to: server, seed: story.options.seed)
    async let counting: Void = crowd.countDials()
    try await crowd.untilUp(links)
    await story.say(.recovery, "\(links) links are up")

    await story.say(.fault, "the host goes down with all its links")
    let down = ContinuousClock.now
    await server.kill()
    try await crowd.untilUp(0)
    await story.say(.error, "every link knows it after \(down.duration(to: .now).told)")
    try await ContinuousClock().sleep(until: down + .seconds(1))
    let back = ContinuousClock.now
    try await server.restart()
    await story.say(.fault, "the host is back")
    try await crowd.untilUp(links)
    let outage = back.duration(to: .now)
    await story.say(.recovery, "\(links) links are up again after \(outage.told)")

    await story.hold("all are back within a minute", outage <= .seconds(60))
    let answer = try await crowd.supervisor.connection(ConnectionID("link 1"))
      .answer(to: "echo here")
    await story.hold("a link carries commands again", answer == "here")
    await story.hold("no person is asked for anything", await crowd.supervisor.shown == nil)
    let refusals = await server.log.ranges(of: "drop connection #").count
    await story.say(.proof, "sshd turned away \(refusals)")
    await story.hold("sshd refused no connection", refusals == 0)
    let dials = await crowd.dialTimes()
    let whileDown = dials.count { $0 > down && $0 <= back }
    let since = dials.count { $0 > back }
    await story.say(.proof, "dials while it was down: \(whileDown), and since: \(since)")
    await story.hold("few dials while the port is closed", whileDown <= links / 2)
    await story.hold("hardly more than one dial a link since", since <= links * 11 / 10)
    await crowd.supervisor.shutDown()
    await counting
  }
}
