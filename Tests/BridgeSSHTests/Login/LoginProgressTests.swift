import BridgeSSH
import Testing

@Suite struct LoginProgressTests {
  /// Inputs in order, and then: what is offered, what a failure names, what was refused.
  static let rows:
    [([@Sendable (inout LoginProgress) -> Void], LoginProgress.Offer, String, String?)] = [
      ([], .none, "none", nil),
      ([{ $0.signsByRSA() }, { $0.refuse() }], .none, "none", nil),
      ([{ $0.make(by: "password") }], .made(method: "password", isRSA: false), "password", nil),
      (
        [{ $0.make(by: "publickey") }, { $0.signsByRSA() }],
        .made(method: "publickey", isRSA: true), "publickey", nil
      ),
      (
        [{ $0.make(by: "publickey") }, { $0.signsByRSA() }, { $0.make(by: "publickey") }],
        .made(method: "publickey", isRSA: false), "publickey", nil
      ),
      (
        [{ $0.make(by: "publickey") }, { $0.refuse() }, { $0.askForMethods() }], .none, "none",
        "publickey"
      ),
      (
        [{ $0.make(by: "publickey") }, { $0.refuse() }, { $0.end(methods: "password") }],
        .over(methods: "publickey"), "publickey", "publickey"
      ),
      (
        [{ $0.make(by: "publickey") }, { $0.end(methods: "password") }],
        .over(methods: "password"), "password", nil
      ),
      ([{ $0.end(methods: nil) }], .over(methods: "none"), "none", nil),
    ]

  @Test(arguments: rows) func aFailureNamesWhatWasRefusedOrOffered(
    inputs: [@Sendable (inout LoginProgress) -> Void], offer: LoginProgress.Offer, method: String,
    refused: String?
  ) {
    var state = LoginProgress()
    for input in inputs { input(&state) }
    #expect(state.offer == offer)
    #expect(state.method == method)
    #expect(state.refusedMethod == refused)
  }

  @Test func anRSAKeyThatWasRefusedIsRemembered() {
    var state = LoginProgress()
    state.make(by: "publickey")
    state.signsByRSA()
    #expect(!state.hasRefusedRSA)
    state.refuse()
    state.make(by: "publickey")
    state.refuse()
    #expect(state.hasRefusedRSA)
  }

  @Test func someTimeIsAlwaysLeft() {
    var state = LoginProgress(within: .seconds(5))
    state.spend(.seconds(2))
    #expect(state.timeLeft == .seconds(3))
    state.spend(.seconds(9))
    #expect(state.timeLeft == .milliseconds(1))
    state.giveBack(.seconds(1))
    #expect(state.timeLeft == .milliseconds(1001))
  }
}
