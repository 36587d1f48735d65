import BridgeCommands
import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTransport
import BridgeWebSocket
import Testing

@Suite struct DoctorReportTests {
  /// Takes facts in, one each 10 ms.
  private struct Talk {
    var report = DoctorReport()
    var now = Duration.zero
    var steps: [DoctorStep] = []

    init(_ site: DoctorSite) { steps += report.begin(site, at: now) }

    private mutating func tick() -> Duration {
      now += .milliseconds(10)
      return now
    }

    mutating func take(_ facts: SSHFact...) {
      for fact in facts { steps += report.take(fact, at: tick()) }
    }

    mutating func see(_ facts: WebSocketFact...) {
      for fact in facts { steps += report.take(fact, at: tick()) }
    }

    mutating func fail(_ error: AppError, _ kind: FailureKind, _ phase: ConnectionPhase) {
      let context = FailureContext(kind: kind, phase: phase, host: "h", port: 22)
      steps.append(report.fail(CommandFailure(error: error, context: context), at: tick()))
    }

    mutating func lookForHostProgram() { report.lookForHostProgram(at: tick()) }

    mutating func connect() { steps += report.connected(at: tick()) }

    var last: DoctorStep? { steps.last }
    var brief: [String] { steps.map { "\($0.kind) \($0.outcome) \($0.message)" } }
  }

  private static var site: DoctorSite {
    var site = DoctorSite(name: "h:22", port: 22)
    site.user = "me"
    return site
  }

  /// Of the link of a command that has run already that would not be true.
  @Test(arguments: [ConnectionPhase.openChannel, .execute, .stream, .close])
  func aLinkThatIsLostBehindTheCommandsFailsTheSearch(phase: ConnectionPhase) {
    let ofCommand = phase == .openChannel ? "channel" : "command"
    for (looks, kind) in [(false, ofCommand), (true, "bridgeHost")] {
      var talk = Talk(Self.site)
      talk.take(.entered(.openChannel), .channelOpened)
      if looks { talk.lookForHostProgram() }
      talk.fail(.sshConnectionFailed(host: "h", reason: "It was lost."), .linkLost, phase)
      #expect(talk.last?.kind.rawValue == kind)
    }
  }

  private static let four = NetworkAddress(bytes: [192, 0, 2, 1])
  private static let six = NetworkAddress(
    bytes: [0x20, 1] + [UInt8](repeating: 0, count: 13) + [1])
  private static let agreement = Agreement(keyExchange: "k", hostKey: "h", cipher: "c", mac: "m")

  @Test func aHealthyConnectionHasAStepForEachPhase() throws {
    let (four, six) = (try #require(Self.four), try #require(Self.six))
    var talk = Talk(Self.site)
    talk.take(
      .entered(.resolve), .dial(.resolved([six, four])), .entered(.dial), .dial(.began(six)),
      .dial(.ended(six, .failed(errno: 101))), .dial(.began(four)),
      .dial(.ended(four, .connected)), .entered(.banner), .identified("SSH-2.0-x"),
      .entered(.keyExchange), .agreed(Self.agreement), .entered(.hostKey),
      .hostKey(
        HostKeyFinding(
          keyType: "ED25519", fingerprint: "SHA256:a", status: .trusted, lines: ["/k:3"])),
      .entered(.authenticate),
      .offered(OfferFact(.keyFile("/a"), .refused(["publickey"]))),
      .offered(OfferFact(.keyFile("/b"), keyType: "ED25519", fingerprint: "SHA256:b", .accepted)))
    talk.connect()
    #expect(
      talk.brief == [
        "resolve ok 2001::1, 192.0.2.1", "connect no Network is unreachable",
        "connect ok connected", "banner ok SSH-2.0-x", "keyExchange ok k, h, c, m",
        "hostKey ok known", "login no refused; the server takes publickey", "login ok accepted",
      ])
    #expect(talk.steps.allSatisfy { $0.target == "h:22" })
    let times = talk.steps.map { $0.duration.map { Int($0 / .milliseconds(10)) } }
    #expect(times == [1, 1, 1, 1, 1, 2, 1, 1])
    #expect(talk.steps[1].tried == "[2001::1]:22" && talk.steps[2].tried == "192.0.2.1:22")
    #expect(talk.steps[5].sources == ["/k:3"])
    #expect(talk.steps[7].tried == "/b (ED25519 SHA256:b)")
    #expect(talk.report.exitCode == 0 && talk.report.warnings == 0)
  }

  @Test(
    arguments: [
      (OfferFact.Outcome.accepted, "ok", "accepted"),
      (.partial(["password"]), "ok", "accepted; password must follow"),
      (.refused(["a", "b"]), "no", "refused; the server takes a, b"),
      (.unusable("It is broken."), "warning", "not offered: It is broken."),
      (.notOffered("Before."), "no", "not offered: Before."),
      (.listed(held: 1, offered: 1), "ok", "holds 1 key; 1 may be offered"),
      (.listed(held: 0, offered: 0), "no", "holds 0 keys; 0 may be offered"),
    ])
  func anOfferHasItsOutcome(_ outcome: OfferFact.Outcome, _ mark: String, _ text: String) {
    var talk = Talk(Self.site)
    talk.take(.offered(OfferFact(.agentKey, outcome)))
    #expect(talk.brief == ["login \(mark) \(text)"])
    #expect(talk.report.warnings == (mark == "warning" ? 1 : 0))
  }

  @Test(
    arguments: [
      (ConnectionPhase.resolve, DoctorStep.Kind.resolve), (.dial, .connect), (.banner, .banner),
      (.keyExchange, .keyExchange), (.hostKey, .hostKey), (.authenticate, .login),
      (.openChannel, .channel), (.execute, .command), (.stream, .command),
    ])
  func aFailureIsTheStepOfItsPhase(_ phase: ConnectionPhase, _ kind: DoctorStep.Kind) throws {
    var talk = Talk(Self.site)
    talk.fail(.sshTimeout(seconds: 3), .silent, phase)
    let step = try #require(talk.last)
    #expect(step.kind == kind && step.outcome == .failed && step.remedy != nil)
    #expect(talk.report.exitCode == 124)
  }

  @Test func theFirstFailureDecidesTheExitCode() {
    var talk = Talk(Self.site)
    talk.fail(.dnsError(host: "h"), .nameUnknown, .resolve)
    talk.fail(.sshTimeout(seconds: 3), .silent, .banner)
    #expect(talk.report.exitCode == 68)
    #expect(talk.report.summary(after: .milliseconds(1500)) == "It does not work, after 1500 ms.")
  }

  @Test func aFailureBeforeAnyHostIsOneOfTheConfiguration() {
    var report = DoctorReport()
    let failure = CommandFailure(
      error: .validationError(field: "Port", message: "no"), isInFile: true)
    #expect(report.fail(failure, at: .zero).kind == .config)
    #expect(report.exitCode == 78)
  }

  @Test func aChangedHostKeyNamesTheLineAndWhatRemovesIt() throws {
    var talk = Talk(Self.site)
    let detail = "but /k:7 has another. Remove it: ssh-keygen -R h"
    talk.take(
      .entered(.hostKey),
      .hostKey(
        HostKeyFinding(
          keyType: "ED25519", fingerprint: "SHA256:a", status: .changed(detail: detail),
          lines: ["/k:7"])))
    talk.fail(.sshHostKeyMismatch(host: "h"), .hostKeyChanged, .hostKey)
    let step = try #require(talk.last)
    #expect(step.sources == ["/k:7"] && step.kind == .hostKey)
    #expect(talk.report.exitCode == 79)
  }

  @Test func aRefusedKeyFileIsNamedInWhatToDo() throws {
    var talk = Talk(Self.site)
    talk.take(
      .entered(.authenticate), .offered(OfferFact(.keyFile("/a"), .refused(["publickey"]))))
    talk.fail(.sshAuthenticationFailed(method: "publickey"), .authenticationRefused, .authenticate)
    let remedy = try #require(talk.last?.remedy)
    #expect(remedy.contains("To admit /a, its public half must be in ~/.ssh/authorized_keys of me"))
  }

  @Test func aHostBehindAnotherIsReachedByIt() {
    var site = Self.site
    site.through = "bastion:22"
    var talk = Talk(site)
    talk.take(.entered(.dial), .entered(.banner))
    #expect(talk.brief == ["connect ok by bastion:22"])
    #expect(site.heading == "h:22 as me, by bastion:22")
  }

  @Test func aCertificateOfAnotherNameIsShown() throws {
    var site = DoctorSite(name: "h:443", port: 443)
    site.isSecure = true
    var talk = Talk(site)
    talk.see(
      .entered(.upgrade),
      .certificate(CertificateDetails(names: "DNS:other", issuer: "CN = ca", expires: "2099")))
    talk.fail(
      .webSocketConnectionFailed(reason: "name"), .tls(.wrongName), .upgrade)
    let step = try #require(talk.last)
    #expect(step.kind == .tls)
    #expect(step.message.hasSuffix("for DNS:other, issued by CN = ca, valid until 2099."))
  }

  @Test func aTunnelIsAStepOfItsOwn() throws {
    var site = DoctorSite(name: "h:443", port: 3128)
    site.through = "the proxy p:3128 (HTTPS_PROXY)"
    #expect(site.heading == "h:443, by the proxy p:3128 (HTTPS_PROXY)")
    let four = try #require(Self.four)
    var talk = Talk(site)
    talk.see(
      .entered(.dial), .dial(.began(four)), .dial(.ended(four, .connected)), .tunnel(status: 403))
    #expect(talk.steps.map(\.tried) == ["192.0.2.1:3128"])
    talk.see(.tunnel(status: 200))
    #expect(talk.brief.last == "connect ok the proxy opened a tunnel to it")
    #expect(talk.last?.tried == "h:443")
  }

  @Test func afterTLSAFailureIsOneOfTheUpgrade() {
    var site = DoctorSite(name: "h:443", port: 443)
    site.isSecure = true
    var talk = Talk(site)
    talk.see(.entered(.upgrade), .secured(version: "TLSv1.3", cipher: "X"))
    #expect(talk.brief == ["tls ok TLSv1.3 X"])
    talk.fail(.webSocketConnectionFailed(reason: "no"), .refusedUpgrade(status: 404), .upgrade)
    #expect(talk.last?.kind == .upgrade)
  }

  @Test func theTimeOfAnAnswerIsNotCounted() {
    var talk = Talk(Self.site)
    talk.take(.offered(OfferFact(.password, .accepted, asked: .milliseconds(8))))
    #expect(talk.last?.duration == .milliseconds(2))
    talk.take(
      .entered(.hostKey),
      .hostKey(
        HostKeyFinding(
          keyType: "ED25519", fingerprint: "SHA256:a",
          status: .unknown(fingerprint: "SHA256:a", doubt: nil))),
      .asked(.milliseconds(25)), .entered(.authenticate))
    #expect(talk.last?.duration == .milliseconds(5))
  }

  @Test func theTextIsAlignedAndEscaped() {
    let step = DoctorStep(
      .keyExchange, of: "h:22", .failed, tried: "a", "b\u{1B}[2J", duration: .milliseconds(7),
      sources: ["s:1"], remedy: "r")
    let indent = String(repeating: " ", count: 34)
    #expect(
      step.text(color: false)
        == "  FAILED      7 ms  key exchange  a: b\\x1b[2J\n\(indent)from s:1\n\(indent)to do: r\n")
    #expect(step.text(color: true).hasPrefix("  \u{1B}[1;31mFAILED"))
    let slow = DoctorStep(.login, .ok, "m", duration: .seconds(12))
    #expect(slow.text(color: false) == "  ok        12.0 s  login         m\n")
  }

  @Test(arguments: [40, 80, 100])
  func theTextFitsTheTerminal(_ columns: Int) {
    let step = DoctorStep(
      .hostKey, .failed, "The key of web is not the one on record, and more words follow here.",
      duration: .milliseconds(7), sources: ["/home/me/.ssh/known_hosts:3"],
      remedy: "Ask the host's administrator whether its key was changed.",
      command: "ssh-keygen -f '/home/me/.ssh/known_hosts' -R '[127.0.0.1]:36106'")
    let lines = step.text(color: false, columns: columns).split(separator: "\n")
    #expect(lines.last.map(String.init) == step.command.map { "    \($0)" })
    #expect(lines.dropLast().allSatisfy { $0.count <= columns }, "\(lines)")
    #expect(lines[0].hasPrefix("  FAILED      7 ms  host key"))
  }

  @Test func everyNameFitsItsColumn() {
    #expect(DoctorStep.Kind.allCases.allSatisfy { $0.words.count < 14 })
    #expect(DoctorStep.Outcome.allCases.allSatisfy { $0.rawValue.count < 8 })
  }
}
