import BridgeErrors
import BridgeTransport
import Testing

@Suite struct ConnectionStateMachineTests {
  private typealias Input = ConnectionStateMachine.Input
  private static let lost = ConnectionError(
    .sshConnectionFailed(host: "h", reason: "r"),
    context: FailureContext(kind: .dropped, phase: .banner, host: "h"))

  private func run(_ inputs: [Input]) -> (ConnectionStateMachine, [ConnectionStateMachine.Effect]) {
    var machine = ConnectionStateMachine()
    let effects = inputs.flatMap { machine.step($0) }
    return (machine, effects)
  }

  @Test func aWholeLifeYieldsEveryStepOnce() {
    let (machine, effects) = run([
      .connect, .enter(.resolve), .enter(.resolve), .enter(.dial), .ready, .enter(.openChannel),
      .close, .tornDown,
    ])
    #expect(
      effects == [
        .yield(.entered(.resolve)), .yield(.entered(.dial)), .yield(.connected),
        .yield(.entered(.openChannel)), .tearDown, .yield(.closed),
      ])
    #expect(machine.state == .closed)
    #expect(machine.ignored == 1)
  }

  @Test(arguments: [[Input.connect], [.connect, .enter(.banner)], [.connect, .ready]])
  private func aFailureTearsDownOnce(prefix: [Input]) {
    let (machine, effects) = run(
      prefix + [.fail(Self.lost), .fail(Self.lost), .close])
    #expect(effects.suffix(2) == [.yield(.failed(Self.lost)), .tearDown])
    #expect(machine.state == .closing)
    #expect(machine.failure == Self.lost)
    #expect(machine.ignored == 2)
  }

  @Test func closingBeforeConnectingClosesAtOnce() {
    let (machine, effects) = run([.close])
    #expect(effects == [.yield(.closed)])
    #expect(machine.state == .closed)
  }

  @Test(arguments: [
    Input.connect, .enter(.dial), .ready, .fail(Self.lost), .close, .tornDown,
  ])
  private func afterTheEndNothingHappens(input: Input) {
    let (machine, effects) = run([.connect, .close, .tornDown, input])
    #expect(effects.count == 2)
    #expect(machine.state == .closed)
    #expect(machine.ignored == 1)
  }

  @Test func aLateConnectIsNotAConnection() {
    let (machine, effects) = run([.connect, .close, .ready])
    #expect(effects == [.tearDown])
    #expect(machine.ignored == 1)
  }
}
