import BridgeErrors
import Testing

@testable import BridgeSSH

/// The events of a forwarder for its one reader.
@Suite(.timeLimit(.minutes(5))) struct ForwardEventsTests {
  @Test func aReaderThatIsTooSlowFindsHowManyItMissed() async {
    let events = ForwardEvents()
    let count = 3 * ForwardEvents.limit
    for id in 0..<count { events.add(.refused(id: id, target: nil, .cancelled)) }
    events.finish()
    var (missed, seen) = (0, [Int]())
    for await event in events.stream {
      switch event {
      case .missed(let count):
        #expect(seen.isEmpty)
        missed += count
      case .refused(let id, _, _): seen.append(id)
      case .opened, .damaged, .closed, .listening, .unavailable: Issue.record("\(event)")
      }
    }
    #expect(missed > 0 && seen == Array(missed..<count))
  }

  @Test func whatHappensAtOnceIsKeptForAReaderThatComesLater() async {
    let events = ForwardEvents()
    for id in 0..<2_000 { events.add(.refused(id: id, target: nil, .cancelled)) }
    events.finish()
    var count = 0
    for await event in events.stream where event != .missed(count: 0) { count += 1 }
    #expect(count == 2_000)
  }
}
