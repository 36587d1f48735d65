import BridgeErrors
import BridgeSSH
import Testing

struct AuthenticationPlanTests {
  private let all = ["publickey", "password", "keyboard-interactive"]

  private func offers(_ plan: AuthenticationPlan, for methods: [String]) -> [String] {
    var plan = plan
    var names: [String] = []
    while let offer = plan.next(for: methods) { names.append("\(offer)") }
    return names
  }

  @Test func offersInTheOrderGivenWhatTheServerTakes() {
    let plan = AuthenticationPlan([
      .password(Secret("x")), .keyFile("a"), .keyboardInteractive, .agent(socketPath: "s"),
    ])
    #expect(
      offers(plan, for: all) == [
        "password(isGiven: true, index: 0)", "keyFile(\"a\")", "keyboardInteractive",
        "agentKeys(socketPath: \"s\")",
      ])
    #expect(offers(plan, for: ["publickey"]).count == 2)
    #expect(offers(plan, for: []) == [])
    #expect(offers(plan, for: ["hostbased", "gssapi-with-mic"]) == [])
  }

  @Test func nothingTwice() {
    let plan = AuthenticationPlan([
      .keyFile("a"), .keyFile("a"), .keyFile("b"), .password(Secret("x")), .password(Secret("x")),
      .password(Secret("y")), .password(nil), .password(nil), .keyboardInteractive,
      .keyboardInteractive, .agent(socketPath: "s"), .agent(socketPath: "s"),
    ])
    // Both of the passwords that a person is asked for: the second answer may be another.
    #expect(offers(plan, for: all).count == 8)
    var keys = AuthenticationPlan([])
    #expect([[1], [2], [1]].map { keys.isFirst($0) } == [true, true, false])
  }

  @Test func whatWaitsForItsMethodIsOfferedLater() {
    var plan = AuthenticationPlan([.password(Secret("x")), .keyFile("a")])
    #expect(plan.next(for: ["publickey"]) == .keyFile("a"))
    #expect(plan.next(for: ["publickey"]) == nil)
    #expect(plan.next(for: ["password"]) == .password(isGiven: true, index: 0))
  }

  @Test func theAgentsKeysTakeItsPlace() {
    var plan = AuthenticationPlan([.agent(socketPath: "s"), .keyFile("a")])
    #expect(plan.next(for: all) == .agentKeys(socketPath: "s"))
    let keys = [Keys.ed1, Keys.ed2].map {
      AgentKey(blob: $0, type: "ssh-ed25519", socketPath: "s")
    }
    plan.insert(keys)
    #expect(plan.next(for: all) == .agentKey(keys[0]))
    #expect(plan.next(for: all) == .agentKey(keys[1]))
    #expect(plan.next(for: all) == .keyFile("a"))
  }

  @Test func enoughIsEnough() {
    var plan = AuthenticationPlan((0..<9).map { .keyFile("\($0)") })
    var count = 0
    while plan.next(for: all) != nil {
      count += 1
      plan.refused()
    }
    #expect(count == AuthenticationPlan.mostOffers)
  }

  @Test func onlyKeysThatTheLibraryCanOfferAreUsable() {
    for (type, isUsable) in [
      ("ssh-ed25519", true), ("ecdsa-sha2-nistp256", true), ("ecdsa-sha2-nistp521", true),
      ("ssh-rsa", false), ("ssh-dss", false), ("sk-ssh-ed25519@openssh.com", false),
      ("ssh-ed25519-cert-v01@openssh.com", false),
    ] {
      #expect(AgentKey(blob: [], type: type, socketPath: "").isUsable == isUsable)
    }
  }
}
