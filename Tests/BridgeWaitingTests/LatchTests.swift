import BridgeTestKit
import BridgeWaiting
import Testing

@Suite(.timeLimit(.minutes(5))) struct LatchTests {
  @Test func whoCameBeforeAndWhoComesAfterPass() async {
    let latch = Latch()
    let order = Mutex<[Int]>([])
    let early = Task {
      await latch.wait()
      order.withLock { $0.append(2) }
    }
    order.withLock { $0.append(1) }
    latch.open()
    await early.value
    latch.open()
    await latch.wait()
    #expect(order.withLock { $0 } == [1, 2])
  }

  @Test func aTaskThatIsCanceledWaitsNoLonger() async {
    let latch = Latch()
    let waiting = Task { await latch.wait() }
    waiting.cancel()
    await waiting.value
  }
}
