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
    var agent = AuthenticationPlan.AgentKeys(socketPath: "s")
    agent.behind = ["a"]
    #expect(
      offers(plan, for: all) == [
        "password(isGiven: true, index: 0)", "keyFile(\"a\")", "keyboardInteractive",
        "\(AuthenticationPlan.Offer.agentKeys(agent))",
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

  /// Who mistypes is asked again, as by ssh, whatever else the server takes.
  @Test func aRefusedConversationHasAnother() {
    let credentials: [SSHCredential] = [.keyboardInteractive, .password(nil)]
    var plan = AuthenticationPlan(credentials, conversations: 3)
    for _ in 0..<3 {
      #expect(plan.next(for: ["keyboard-interactive"]) == .keyboardInteractive)
      plan.refused(.keyboardInteractive)
    }
    #expect(plan.next(for: ["keyboard-interactive"]) == nil)
    plan = AuthenticationPlan(credentials, conversations: 3)
    for _ in 0..<3 {
      #expect(plan.next(for: all) == .keyboardInteractive)
      plan.refused(.keyboardInteractive)
    }
    #expect(plan.next(for: all) == .password(isGiven: false, index: 1))
    #expect(plan.next(for: all) == nil)
    plan = AuthenticationPlan(credentials, conversations: 3)
    #expect(plan.next(for: ["keyboard-interactive"]) == .keyboardInteractive)
    plan.endConversations()
    #expect(plan.next(for: ["keyboard-interactive"]) == nil)
  }

  @Test func whatWaitsForItsMethodIsOfferedLater() {
    var plan = AuthenticationPlan([.password(Secret("x")), .keyFile("a")])
    #expect(plan.next(for: ["publickey"]) == .keyFile("a"))
    #expect(plan.next(for: ["publickey"]) == nil)
    #expect(plan.next(for: ["password"]) == .password(isGiven: true, index: 0))
  }

  @Test func theAgentsKeysTakeItsPlace() {
    var plan = AuthenticationPlan([.agent(socketPath: "s"), .keyFile("a")])
    #expect(plan.next(for: all) == .agentKeys(.init(socketPath: "s")))
    let keys = [Keys.ed1, Keys.ed2].map {
      AgentKey(blob: $0, type: "ssh-ed25519", socketPath: "s")
    }
    plan.insert(keys)
    #expect(plan.next(for: all) == .agentKey(keys[0]))
    #expect(plan.next(for: all) == .agentKey(keys[1]))
    #expect(plan.next(for: all) == .keyFile("a"))
  }

  private func key(_ filling: UInt8) -> AgentKey {
    AgentKey(
      blob: Keys.blob("ssh-ed25519", filling), type: "ssh-ed25519", socketPath: "s")
  }

  /// What is left of the plan once the agent has answered.
  private func rest(
    of credentials: [SSHCredential], preferred: [AgentKey], others: [AgentKey]
  ) -> [AuthenticationPlan.Offer] {
    var plan = AuthenticationPlan(credentials)
    guard case .agentKeys(let wanted)? = plan.next(for: all) else {
      Issue.record("The agent is not asked first.")
      return []
    }
    plan.insert(preferred, others: others, behind: wanted.behind)
    var offers: [AuthenticationPlan.Offer] = []
    while let offer = plan.next(for: all) { offers.append(offer) }
    return offers
  }

  @Test func theAgentsKeysOfNamedFilesComeFirstAndItsOthersAfterThoseFiles() {
    let offers = rest(
      of: [
        .keyFile("a"), .keyFile("b"), .agent(socketPath: "s", preferring: ["a", "b"]),
        .keyboardInteractive,
      ], preferred: [key(1)], others: [key(2), key(3)])
    #expect(
      offers == [
        .agentKey(key(1)), .keyFile("a"), .keyFile("b"), .agentKey(key(2)), .agentKey(key(3)),
        .keyboardInteractive,
      ])
  }

  @Test func anAgentBeforeTheFilesKeepsItsPlace() {
    let offers = rest(
      of: [.agent(socketPath: "s", preferring: ["a"]), .keyFile("a")], preferred: [key(1)],
      others: [key(2)])
    #expect(offers == [.agentKey(key(1)), .agentKey(key(2)), .keyFile("a")])
  }

  @Test func aKeyFileThatNeedsAPersonWaitsForTheAgentsKeys() {
    var plan = AuthenticationPlan([.agent(socketPath: "s"), .keyFile("b"), .keyboardInteractive])
    let isPostponed = plan.postpone(keyFile: "a")
    #expect(isPostponed)
    #expect(plan.next(for: all) == .agentKeys(.init(socketPath: "s")))
    #expect(plan.next(for: all) == .keyFile("a"))
    let isPostponedAgain = plan.postpone(keyFile: "a")
    #expect(!isPostponedAgain)
  }

  private func refusedOffers(of credentials: [SSHCredential]) -> [AuthenticationPlan.Offer] {
    var plan = AuthenticationPlan(credentials)
    var offers: [AuthenticationPlan.Offer] = []
    while let offer = plan.next(for: all) {
      offers.append(offer)
      plan.refused(offer)
    }
    return offers
  }

  @Test func everyKeyIsOffered() {
    let keys = (0..<9).map { SSHCredential.keyFile("\($0)") }
    #expect(refusedOffers(of: keys) == (0..<9).map { .keyFile("\($0)") })
  }

  @Test func enoughSecretsAreEnough() {
    let secrets = (0..<9).map { SSHCredential.password(Secret("\($0)")) }
    #expect(refusedOffers(of: secrets).count == AuthenticationPlan.mostSecrets)
  }

  /// sshd disconnects after six refusals: a password that was given would never be heard.
  @Test func aGivenPasswordHasItsTurnBehindFiveKeys() {
    let keys = (0..<7).map { SSHCredential.keyFile("\($0)") }
    let given = refusedOffers(of: keys + [.keyboardInteractive, .password(Secret("x"))])
    let expected = (0..<5).map { AuthenticationPlan.Offer.keyFile("\($0)") }
    #expect(Array(given.prefix(6)) == expected + [.password(isGiven: true, index: 8)])
    #expect(Array(given.dropFirst(6)) == [.keyFile("5"), .keyFile("6"), .keyboardInteractive])
    let asked = refusedOffers(of: keys + [.password(nil)])
    #expect(asked.last == .password(isGiven: false, index: 7) && asked.count == 8)
  }

  /// A server counts each refusal, by whichever method the secret came.
  @Test func aRefusedSecretIsNotOfferedByTheOtherMethod() {
    var plan = AuthenticationPlan([
      .passwordByAnyMethod(Secret("x")), .passwordByAnyMethod(Secret("x")),
      .passwordByAnyMethod(Secret("y")),
    ])
    #expect(plan.next(for: all) == .password(isGiven: true, index: 0))
    plan.refused(.password(isGiven: true, index: 0))
    #expect(plan.next(for: all) == .password(isGiven: true, index: 2))
    // Accepted, and the server wants more: then it is another question.
    #expect(plan.next(for: ["keyboard-interactive"]) == .sameByKeyboardInteractive(index: 2))
    #expect(plan.next(for: all) == nil)
  }

  @Test func onlyKeysThatTheLibraryCanOfferAreUsable() {
    for (type, isUsable) in [
      ("ssh-ed25519", true), ("ecdsa-sha2-nistp256", true), ("ecdsa-sha2-nistp521", true),
      ("ssh-rsa", true), ("ssh-dss", false), ("sk-ssh-ed25519@openssh.com", true),
      ("ssh-ed25519-cert-v01@openssh.com", true), ("ssh-dss-cert-v01@openssh.com", false),
      ("sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", true), ("ecdsa-sha2-nistp999", false),
    ] {
      let key = AgentKey(blob: [], type: type, socketPath: "")
      #expect((key.algorithm != nil) == isUsable, "\(type)")
    }
  }
}
