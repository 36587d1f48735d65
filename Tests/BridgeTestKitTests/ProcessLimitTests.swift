import BridgeTestKit
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ProcessLimitTests {
  @Test func aProcessThatHangsEnds() async {
    await #expect(processExitsWith: .signal(SIGALRM)) {
      ProcessLimit.begin(seconds: 1)
      DispatchSemaphore(value: 0).wait()
    }
  }
}
