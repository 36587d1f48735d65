import BridgeErrors
import BridgeFaults
import BridgeSessionProtocol
import BridgeStore
import BridgeSupervision
import BridgeTestKit
import BridgeWaiting
import Foundation
import ServiceLifecycle
import Testing

@testable import BridgeAgentHost
@testable import BridgeConsole

/// `scripts/console-check` installs what these need, and keeps the pictures.
@Suite(
  "The page in a browser", .serialized, .timeLimit(.minutes(5)),
  .enabled(if: Browser.isInstalled, "scripts/console-check installs it"))
struct BrowserTests {
  private func withDriver(_ body: (Browser.Driver) async throws -> Void) async throws {
    let driver = try await Browser.Driver()
    let result: Result<Void, any Error>
    do { result = .success(try await body(driver)) } catch { result = .failure(error) }
    await driver.stop()
    try result.get()
  }

  private func with(
    _ world: ConsoleWorld, _ body: (ConsoleWorld, Browser.Driver) async throws -> Void
  ) async throws {
    try await withDriver { driver in try await withWorld(world) { try await body($0, driver) } }
  }

  private func open(
    _ world: ConsoleWorld, _ token: ConsoleToken, _ driver: Browser.Driver
  ) async throws -> Browser {
    let browser = try await Browser(driver)
    try await browser.open(try #require(world.console.address(for: token)))
    return browser
  }

  private func keep(_ picture: Data, _ name: String) throws {
    let folder = ProcessInfo.processInfo.environment["BRIDGE_CONSOLE_PICTURES"]
    guard let folder else { return }
    try picture.write(to: URL(filePath: folder).appending(path: "\(name).png"))
  }

  @Test func itOpensWithTheTokenAndForgetsIt() async throws {
    try await with(ConsoleWorld()) { world, driver in
      let browser = try await open(world, world.writer, driver)
      try await browser.waits(for: "a-host/", in: "#host")
      #expect(try await browser.value("location.hash", as: String.self) == "")
      #expect(try await browser.value("history.length", as: Int.self) <= 2)
      #expect(try await browser.value("document.cookie", as: String.self) == "")
      let kept = "localStorage.length + sessionStorage.length"
      #expect(try await browser.value(kept, as: Int.self) == 0)
      let address = try await browser.value("location.href", as: String.self)
      #expect(!address.contains(ConsoleWorld.text(world.writer)))
      // Its cookie opens it again.
      try await browser.open(world.origin + "/")
      try await browser.waits(for: "a-host/", in: "#host")
      try await browser.click("Log out")
      try await browser.waits(for: "Log in", in: "#login")
      #expect(try await browser.text("main") == "")
      try await browser.open(world.origin + "/#" + String(repeating: "0", count: 64))
      let other = try await open(world, ConsoleToken(name: "no", access: .write), driver)
      try await other.waits(for: "This token opens nothing here.", in: "#login-problem")
      await other.close()
      await browser.close()
    }
  }

  @Test func aLinkIsSeenToBreakAndHeal() async throws {
    try await with(ConsoleWorld()) { world, driver in
      try await world.addLink()
      try await world.moving { world.link()?.state == .up }
      let browser = try await open(world, world.writer, driver)
      try await browser.waits(for: "Up", in: "#links .state")
      world.peer.answer = .refuse
      await world.peer.cut()
      try await world.moving { world.state.problems.count == 1 && world.link()?.nextAt != nil }
      try await browser.waits(for: "Down", in: "#links .state")
      try await browser.waits(for: "next try in", in: "#links .extra")
      try await browser.waits(for: "chat: ", in: "#problems h3")
      // The link's row has the number of its attempts.
      try await world.moving { (world.state.problems.first?.count ?? 0) > 2 }
      try await browser.waits(for: "Attempt ", in: "#links .detail")
      #expect(try await !browser.text("#problems").contains(#/\d times|attempt \d/#))
      try await browser.waits(for: ": not over", in: "#outages .head")
      world.peer.answer = .accept
      let option = try #require(world.state.problems.first?.options.first)
      try await browser.click("\(option.title): chat")
      try await world.moving { world.link()?.state == .up }
      try await browser.waits(for: "Up", in: "#links .state")
      try await browser.waits(for: "None.", in: "#problems-empty")
      try await browser.waits(for: "wait", in: "#outages .muted")
      try await browser.waits(for: "1", in: "#histogram .number")
      #expect(try await browser.log() == [])
      await browser.close()
    }
  }

  /// An event is on the screen within a tenth of a second.
  @Test func eventsAreSeenAtOnce() async throws {
    try await with(ConsoleWorld()) { world, driver in
      let browser = try await open(world, world.viewer, driver)
      try await browser.waits(for: "a-host/", in: "#host")
      let _: Bool = try await browser.value(
        """
        (() => {
          window.seen = [];
          new MutationObserver(() => {
            const text = document.querySelector('#links .name');
            if (text) window.seen.push([text.textContent, Date.now()]);
          }).observe(document.querySelector('#links'),
            { subtree: true, childList: true, characterData: true });
          return true;
        })()
        """)
      var times: [Double] = []
      for number in 0..<10 {
        let name = "link \(number)"
        let start = Date()
        world.console.board.show(
          ConsoleState.Link(id: "l", name: name, state: .up, since: start.milliseconds))
        try await browser.waits(for: name, in: "#links .name")
        let seen: Double = try await browser.value(
          "window.seen.find(([text]) => text === '\(name)')[1]")
        times.append(seen - start.timeIntervalSince1970 * 1000)
      }
      let median = times.sorted()[times.count / 2]
      #expect(median <= 100, "\(times)")
      await browser.close()
    }
  }

  @Test func anOutageIsAsLongAsItWas() async throws {
    try await with(ConsoleWorld()) { world, driver in
      let browser = try await open(world, world.viewer, driver)
      let start = Date().milliseconds - 60_000
      world.console.board.show([
        ConsoleState.Outage(
          id: "o", link: "chat", start: start, end: start + 20_200,
          phases: [.init(name: "detect", duration: 3800), .init(name: "banner", duration: 18_600)])
      ])
      try await browser.waits(for: ": 20.2 s", in: "#outages .head")
      await browser.close()
    }
  }

  /// A screen reader hears of a loss once, not of each dial.
  @Test func aLinkThatIsDownIsAnnouncedOnce() async throws {
    try await with(ConsoleWorld()) { world, driver in
      let browser = try await open(world, world.viewer, driver)
      try await browser.waits(for: "a-host/", in: "#host")
      let _: Bool = try await browser.value(
        """
        (() => {
          window.heard = [];
          new MutationObserver(() => window.heard.push(
            document.querySelector('#announcer').textContent))
            .observe(document.querySelector('#announcer'),
              { subtree: true, childList: true, characterData: true });
          return true;
        })()
        """)
      func show(_ states: ConsoleState.Link.State...) async throws {
        for state in states {
          world.console.board.show(
            ConsoleState.Link(id: "l", name: "chat", state: state, since: Date().milliseconds))
        }
        // What comes within a moment is announced together.
        try await ContinuousClock().sleep(for: .milliseconds(600))
      }
      try await show(.connecting)
      try await show(.up)
      try await show(.silent)
      try await browser.waits(for: "None yet. Not up: chat.", in: "#problems-empty")
      try await show(.connecting, .waiting)
      for _ in 0..<3 { try await show(.connecting, .waiting) }
      try await show(.connecting, .failed)
      try await show(.connecting)
      try await show(.up)
      let heard: [String] = try await browser.value("window.heard")
      #expect(
        heard == ["chat: Up", "chat: Down", "chat: Given up", "chat: Connecting", "chat: Up"])
      await browser.close()
    }
  }

  @Test func twoPeopleAnswerAtOnce() async throws {
    let other = ConsoleToken(name: "ben", access: .write)
    try await with(ConsoleWorld(change: { $0.tokens.append(other) })) { world, driver in
      let approvals = ApprovalSample.approvals()
      world.console.show(approvals, of: "builder")
      try await approvals.request(
        ApprovalSample.request(of: "builder", asking: "<img src=x onerror=alert(1)>"))
      let (ada, ben) = (
        try await open(world, world.writer, driver), try await open(world, other, driver)
      )
      for browser in [ada, ben] { try await browser.waits(for: "<img src=x", in: "#approvals h3") }
      let (allow, refuse) = (
        "Allow: <img src=x onerror=alert(1)>", "Refuse: <img src=x onerror=alert(1)>"
      )
      // Neither sees the other's answer before it clicks.
      for browser in [ada, ben] {
        let _: Bool = try await browser.value(
          "(() => { window.drawn = render; render = () => {}; return true })()")
      }
      async let first: Void = ada.click(allow)
      async let second: Void = ben.click(refuse)
      _ = try await (first, second)
      try await eventually { await approvals.pending.isEmpty }
      for browser in [ada, ben] {
        let _: Bool = try await browser.value(
          "(() => { render = window.drawn; render(); return true })()")
      }
      let decision = try #require(await approvals.records.first?.decision)
      for (browser, name) in [(ada, "ada"), (ben, "ben")] {
        try await browser.waits(
          for: decision.by == name
            ? "Decided: \(decision.name)"
            : "Already decided: \(decision.name) (\(decision.by))", in: "#approvals .result")
      }
      #expect(try await ada.value("document.querySelectorAll('img').length", as: Int.self) == 0)
      await ada.close()
      await ben.close()
    }
  }

  /// A new machine, and one that was set up anew: two people look at the key.
  @Test func aPersonTrustsTheNewKey() async throws {
    let other = ConsoleToken(name: "ben", access: .write)
    try await withDriver { driver in
      try await MachineWorld.with(tokens: [other]) { try await trustTheNewKey($0, other, driver) }
    }
  }

  private func trustTheNewKey(
    _ world: MachineWorld, _ other: ConsoleToken, _ driver: Browser.Driver
  ) async throws {
    let browser = try await open(world.page, world.page.writer, driver)
    let host = "build (127.0.0.1:\(world.server.port))"
    async let dial: Void = world.machine.connect()
    try await browser.waits(for: "\(host) is not a known host", in: "#host-keys h3")
    try await browser.waits(for: "Its ED25519 key is SHA256:", in: "#host-keys .what")
    try await browser.click("Trust the key: \(host)")
    try await browser.waits(for: "Up", in: "#links .state")
    #expect(try await browser.text("#host-keys-section") == "")
    #expect(try world.known == [await world.key])
    try await dial
    let ben = try await open(world.page, other, driver)
    let viewer = try await open(world.page, world.page.viewer, driver)
    try await world.server.swapHostKeys()
    await world.server.kill()
    try await world.server.restart()
    for browser in [browser, ben, viewer] {
      try await browser.waits(for: "The host key of \(host) has changed", in: "#host-keys h3")
      try await browser.waits(for: "the connection is intercepted", in: "#host-keys .more")
    }
    for (width, isDark) in [(360, true), (1440, false)] {
      let name = "host-key-\(width)"
      try keep(await browser.picture(width: width, isDark: isDark), name)
      try await check(browser, name)
    }
    #expect(try await viewer.text("#host-keys .actions") == "")
    // Ben still sees the question when Ada has answered it.
    let _: Bool = try await ben.value("(() => { render = () => {}; return true })()")
    try await browser.click("Trust the new key: \(host)")
    try await browser.waits(for: "Up", in: "#links .state")
    try await ben.click("Refuse: \(host)")
    try await ben.waits(for: "Already decided: trusted (ada)", in: "#announcer")
    #expect(try world.known == [await world.key])
    #expect(try await browser.log() == [])
    for browser in [browser, ben, viewer] { await browser.close() }
  }

  /// A program that fills its terminal, and a link that breaks under it.
  @Test func theScreenOfAnAgentIsSeenLive() async throws {
    let draws = """
      stty -echo; printf '\\033[2J\\033[1;44;97m Claude 日本 \\033[m\\r\\n'
      printf '\\033[38;5;208m❯\\033[m <b>x</b>'; read x
      """
    let size = WindowSize(columns: 60, rows: 12)
    try await with(ConsoleWorld(ConsoleLimits(screens: 1))) { page, driver in
      try await AgentWorld.with(page, agent: "painter", running: draws, on: size) { world in
        let browser = try await open(page, page.viewer, driver)
        try await browser.waits(for: "Screen", in: "#agents button")
        try await browser.click("Screen of painter")
        try await browser.waits(for: "Claude 日本", in: "#terminal")
        try await browser.waits(for: "Live, 60 × 12", in: "#screen-state")
        #expect(try await browser.text("#terminal").contains("<b>x</b>"))
        let color = "getComputedStyle(document.querySelector('#terminal span')).backgroundColor"
        #expect(try await browser.value(color, as: String.self) == "rgb(43, 92, 168)")
        // Each cell has its place, whatever font a character comes from.
        let left = """
          (() => { const line = document.querySelector('#terminal > div');
            const [first] = line.children; const last = line.lastChild.getBoundingClientRect();
            const cell = first.getBoundingClientRect().width / 8;
            return Math.round((last.right - first.getBoundingClientRect().left) / cell) })()
          """
        #expect(try await browser.value(left, as: Int.self) == 13)
        for (width, isDark) in [(360, false), (1440, true)] {
          let name = "screen-\(width)"
          try keep(await browser.picture(width: width, isDark: isDark), name)
          try await check(browser, name)
        }
        // One more than there may be: that is no loss of the host.
        let other = try await open(page, page.viewer, driver)
        try await other.waits(for: "Screen", in: "#agents button")
        try await other.click("Screen of painter")
        try await other.waits(for: "Too many screens are open", in: "#screen-state")
        await other.close()
        try await world.cut()
        try await browser.waits(for: "No link to the machine since", in: "#screen-state")
        try await browser.waits(for: "Claude 日本", in: "#terminal")
        try await world.heal()
        try await browser.waits(for: "Live", in: "#screen-state")
        await world.endAll()
        try await browser.waits(for: "The session is over.", in: "#screen-state")
        try await browser.click("Close the screen")
        #expect(try await browser.text("#screen") == "")
        #expect(try await browser.log() == [])
        await browser.close()
      }
    }
  }

  @Test func theLossOfTheHostIsOnThePage() async throws {
    // A port that is free.
    let spare = try await FaultProxy(to: 1)
    await spare.stop()
    let proxy = try await FaultProxy(to: spare.port)
    let origin = "http://localhost:\(proxy.port)"
    let world = try await ConsoleWorld(change: {
      ($0.port, $0.origins) = (spare.port, [origin])
    })
    try await with(world) { world, driver in
      let link = { state in
        ConsoleState.Link(id: "l", name: "chat", state: state, since: Date().milliseconds)
      }
      let approvals = ApprovalSample.approvals()
      world.console.show(approvals, of: "builder")
      try await approvals.request(ApprovalSample.request(of: "builder"))
      let browser = try await open(world, world.writer, driver)
      world.console.board.show(link(.up))
      try await browser.waits(for: "Up", in: "#links .state")
      try await browser.waits(for: "Allow", in: ".actions button:not(:disabled)")
      try await proxy.inject(.refuse())
      try await proxy.inject(.reset)
      try await browser.waits(for: "Connection to the host lost, since", in: "#connection")
      try await browser.waits(for: "Trying", in: "#connection")
      try await browser.waits(for: "? Not known now", in: "#summary")
      try await browser.waits(for: "What follows is old", in: "#stale")
      #expect(try await browser.value("document.title", as: String.self).hasPrefix("? "))
      try await browser.waits(for: "Was: Up", in: "#links .state")
      #expect(try await browser.text(".actions button:not(:disabled)") == "")
      try keep(await browser.picture(width: 360, isDark: false), "lost-360-light")
      try await check(browser, "lost")
      world.console.board.show(link(.failed))
      try await proxy.heal()
      // Where it has not tried by itself meanwhile.
      let button = "(document.querySelector('#connection button') || { click() {} })"
      let _: String? = try await browser.value("\(button).click()")
      try await browser.waits(for: "Given up", in: "#links .state")
      #expect(try await browser.text("#connection") == "")
      #expect(try await browser.text("#stale") == "")
      await browser.close()
    }
    await proxy.stop()
  }

  @Test func itLooksRightOnAPhoneAndOnADesk() async throws {
    try await with(ConsoleWorld()) { world, driver in
      let approvals = ApprovalSample.approvals()
      world.console.show(approvals, of: "builder")
      let running = try await fill(world, approvals)
      let browser = try await open(world, world.writer, driver)
      try await browser.waits(for: "Refuse", in: "#approvals")
      try await browser.waits(for: "Waits for test", in: "#agents .state")
      let screens = [(360, false), (360, true), (1440, false), (1440, true), (3840, true)]
      for (width, isDark) in screens {
        let name = "\(width)-\(isDark ? "dark" : "light")"
        try keep(await browser.picture(width: width, isDark: isDark), name)
        try await check(browser, "\(name)")
      }
      #expect(try await browser.log() == [])
      running.cancel()
      _ = await running.result
      await browser.close()
    }
  }

  /// Something of everything.
  private func fill(
    _ world: ConsoleWorld, _ approvals: Approvals
  ) async throws -> Task<Void, any Error> {
    for name in ["build#1", "test#1", "chat"] { try await world.addLink(name) }
    try await world.moving { world.link("chat")?.state == .up }
    world.peer.answerNext(.rejectCredentials)
    await world.peer.connections.first { $0.id == "build#1" }?.lose()
    try await world.moving { world.link("build#1")?.state == .failed }
    await world.supervisor.report(.agentBusy, source: "deploy")
    let now = Date().milliseconds
    let parts = [("detect", 900), ("wait", 2100), ("dial", 140), ("authenticate", 310)]
    for (number, factor) in [1, 4, 30, 2, 1].enumerated() {
      let phases = parts.map {
        ConsoleState.Outage.Phase(name: $0.0, duration: Double($0.1 * factor))
      }
      let start = now - Int64(number + 1) * 7_200_000
      try await world.store.record(
        StoredOutage(
          id: "\(number)", link: "test#1", start: start,
          phases: phases.map { .init(name: $0.name, duration: .milliseconds($0.duration)) },
          end: start + Int64(3450 * factor)))
      world.console.board.show([
        ConsoleState.Outage(
          id: "\(number)", link: "test#1", start: start, end: start + Int64(3450 * factor),
          phases: phases)
      ])
    }
    let form = ApprovalForm(
      option: "yes",
      fields: [
        .init(name: "target", title: "Target", kind: .text, choices: ["debug", "release"]),
        .init(name: "jobs", title: "Jobs", kind: .integer, isRequired: true),
      ])
    try await approvals.request(
      ApprovalSample.request(of: "builder", asking: "Run make with these values?", form: form))
    try await approvals.request(ApprovalSample.request(of: "builder", "2", asking: "Run ls?"))
    _ = try await approvals.decide(.init(agent: "builder", number: 2), option: "no", by: "ben")
    for name in ["asker", "builder", "tester"] { try await world.host.add(name) }
    let isBusy: @Sendable (CarriedAgent) async throws(AppError) -> Void = {
      agent throws(AppError) in
      if agent.name == "tester" { throw .agentBusy }
      if agent.name == "asker" {
        try await agent.opening(to: "test") { () async throws(AppError) in await Latch().wait() }
      }
      try await agent.rest()
    }
    return Task { try await world.host.run(isBusy) }
  }

  /// What a person who cannot see well, or has no mouse, depends on.
  private func check(_ browser: Browser, _ name: String) async throws {
    struct Finding: Decodable, Equatable {
      var rule: String
      var what: String
    }
    let script = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "accessibility.js"), encoding: .utf8)
    let findings: [Finding] = try await browser.value(script)
    #expect(findings == [], "\(name)")
  }
}
