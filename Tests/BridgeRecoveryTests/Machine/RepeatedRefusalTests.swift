import BridgeErrors
import BridgeRecovery
import Testing

/// Refusals that mean something else on a link that has been up.
@Suite struct RepeatedRefusalTests {
  /// A laptop in a hotel: its old link dies, and the login page of the network answers the dial.
  @Test func anotherProtocolOnALinkThatHasBeenUpIsWaitedForAndShown() {
    var first = Link(retriesFirstDial: true)
    first.step(.start)
    first.step(.granted(isStandby: false))
    first.fail(1, .notTheProtocol)
    #expect(first.machine.state == .failed(Link.lost))

    var link = Link.up()
    link.fail(1, .linkLost)
    link.redial(after: 1)
    link.fail(2, .notTheProtocol)
    #expect(link.plan?.next == .reconnect)
    #expect(link.plan?.at.map { $0 >= .seconds(15) } == true)
  }

  @Test func aSecondThatMeetsAnotherProtocolIsTriedAgain() {
    var link = Link.up()
    link.step(.suspected(generation: 1, silentFor: .seconds(6)))
    link.step(.granted(isStandby: true))
    link.fail(2, .notTheProtocol)
    link.step(.tornDown(generation: 2))
    link.fail(1, .linkLost)
    if case .failed = link.machine.state { Issue.record("\(link.words)") }
  }

  /// Loses generation after generation to these close codes, each so many seconds after it came up.
  private func closed(_ closes: [(code: Int, after: Int)]) -> Link {
    var link = Link()
    link.step(.start)
    for (index, close) in closes.enumerated() {
      let generation = index + 1
      if case .waiting = link.machine.state { link.step(.timer(.retry(Link.id))) }
      if index > 0 { link.step(.tornDown(generation: index)) }
      link.step(.granted(isStandby: false))
      link.step(.connected(generation: generation))
      link.now += .seconds(close.after)
      link.close(generation, close.code)
    }
    return link
  }

  @Test(arguments: [4_401, 4_003, 3_000, 4_999])
  func theSameCodeOfAnApplicationThreeTimesRightAfterTheUpgradeNeedsAPerson(code: Int) {
    #expect(closed([(code, 1), (code, 10)]).machine.state.isWaiting)
    let link = closed([(code, 1), (code, 10), (code, 0)])
    #expect(link.machine.state == .failed(.webSocketDisconnected(code: code, reason: nil)))
    #expect(link.context?.repeats == 3)
  }

  @Test(arguments: [
    [(4_401, 1), (4_403, 1), (4_401, 1)], [(4_401, 1), (4_401, 1), (4_401, 11)],
    [(4_401, 1), (4_401, 11), (4_401, 1)], [(1_011, 1), (1_011, 1), (1_011, 1)],
    [(4_401, 1), (1_001, 1), (4_401, 1), (4_401, 1)],
  ])
  func anyOtherRowOfCodesIsReconnected(closes: [(Int, Int)]) {
    #expect(closed(closes.map { ($0.0, $0.1) }).machine.state.isWaiting)
  }
}

extension Link {
  fileprivate mutating func close(_ generation: Int, _ code: Int) {
    let failure = WebSocketFailure(
      observation: .closed(code: code, reason: ""), phase: .stream, host: "h")
    step(.failed(generation: generation, failure.typed))
  }
}

extension RecoveryStateMachine.State {
  fileprivate var isWaiting: Bool {
    switch self {
    case .waiting, .ready: true
    case .idle, .suspended, .connecting, .up, .degraded, .failed, .closed: false
    }
  }
}
