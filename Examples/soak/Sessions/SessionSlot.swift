import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Foundation
import Narration

/// One session after the other, through a proxy of its own.
struct SessionSlot: Sendable {
  let number: Int
  let proxy: FaultProxy
  let place: SessionPlace
  let ledger: SessionLedger
  let seed: UInt64

  /// Longer than a session stands still under any of the faults.
  private static let timeout = Duration.seconds(90)

  /// Sessions until there were enough faults.
  func run() async {
    var turn = 1
    while await ledger.goesOn {
      await run(SessionPlan(slot: number, number: turn, seed: seed))
      turn += 1
    }
  }

  /// One session, over as many lives of its client as it takes.
  func run(_ plan: SessionPlan, quietly: Bool = false) async {
    let folder = place.workFolder(plan.name)
    let spec = plan.spec(place.executable, in: folder)
    let store = ClientStore(plan)
    let viewer = plan.hasStalledViewer ? Task { await watchStalled(plan, store) } : nil
    let small = plan.hasSmallViewer ? Task { await watchSlowly(plan, store) } : nil
    var havoc = SessionHavocMaker(plan: plan, place: place, proxy: proxy, ledger: ledger)
    var (ending, lives, links) = (SessionClient.Ending.killed, 0, 0)
    while ending == .killed {
      lives += 1
      let life = await SessionClient(
        plan, spec, store, makeDialer(proxy.port), program: place.program,
        seed: plan.outputSeed &+ UInt64(lives))
      ending = await live(life, store, &havoc, quietly: quietly)
      if ending != .killed { await detach(life, ending) } else { await life.die() }
      links += await life.dialer.dials
      await life.dialer.kill()
    }
    await viewer?.value
    let skips = await store.output.screen?.skips ?? 0
    let smallSkips = await small?.value ?? 0
    await calm()
    await verify(plan, ending, await store.output, folder, wasLost: havoc.hasKilledKeeper)
    let (lifeCount, linkCount) = (lives, links)
    await ledger.change {
      ($0.lives, $0.links) = ($0.lives + lifeCount, $0.links + linkCount)
      if plan.isOnTerminal { $0.onTerminal += 1 }
      if plan.hasStalledViewer { $0.viewers += 1 }
      if plan.hasSmallViewer { $0.smallViewers += 1 }
      $0.skips += skips
      $0.skipsOfViewers += smallSkips
    }
  }

  /// The end was seen and stored: the session is removed.
  private func detach(_ life: SessionClient, _ ending: SessionClient.Ending) async {
    await calm()
    guard case .ended = ending else { return await life.session.detach() }
    await life.session.close(within: Self.timeout)
  }

  private func live(
    _ life: SessionClient, _ store: ClientStore, _ havoc: inout SessionHavocMaker, quietly: Bool
  ) async -> SessionClient.Ending {
    var maker = havoc
    let striking = Task { () -> SessionHavocMaker in
      if !quietly { await maker.strike(life) }
      return maker
    }
    let watching = Task { await watch(life, store) }
    var ending = await life.run()
    striking.cancel()
    watching.cancel()
    havoc = await striking.value
    // Killed with the end in its hands: its next life sees that end, and removes the session.
    if case .ended = ending, await life.dialer.isKilled { ending = .killed }
    if let words = await watching.value { ending = .broken(words) }
    return ending
  }

  /// - Returns: why it is given up, where it stands still.
  private func watch(_ life: SessionClient, _ store: ClientStore) async -> String? {
    var (last, since) = (-1, ContinuousClock.now)
    while !Task.isCancelled {
      let steps = await store.steps
      if steps != last { (last, since) = (steps, .now) }
      if .now > since + Self.timeout {
        let position = await store.output.position
        let open = await proxy.connections.count
        await life.die()
        return "it stands still at \(position) of \(life.plan.outputCount) printed bytes, "
          + "typed \(await store.pending) of \(life.plan.inputCount), "
          + "\(open) links"
      }
      await rest(.milliseconds(200))
    }
    return nil
  }

  /// Attaches as a second client and reads nothing until the program has ended.
  private func watchStalled(_ plan: SessionPlan, _ store: ClientStore) async {
    await view(plan, store) { session in
      _ = try? await session.attach()
      await rest(.seconds(2))
    }
  }

  /// Attaches as a second client that reads nothing for so long that it is sent the screen.
  /// - Returns: how often it was.
  private func watchSlowly(_ plan: SessionPlan, _ store: ClientStore) async -> Int {
    var screen = WatchedScreen(plan.output)
    await view(plan, store) { session in
      guard let welcome = try? await session.attach(), !welcome.hasEnded else { return }
      do throws(AppError) {
        for try await chunk in session.output {
          if let wrong = screen.take(chunk) {
            return await ledger.breaks("\(plan.name) (\(plan.id)), a viewer: \(wrong)")
          }
          await fallBehind(plan, screen.position, store)
        }
      } catch {
        // The writer of the session tells of what is wrong with it.
      }
    }
    return screen.skips
  }

  /// Waits until more was printed than a viewer is sent, where so much is to come.
  private func fallBehind(_ plan: SessionPlan, _ position: Int, _ store: ClientStore) async {
    let far = position + Self.mostSent
    guard far < plan.outputCount else { return }
    let limit = ContinuousClock.now + .seconds(20)
    while await store.output.position < far, .now < limit { await rest(.milliseconds(50)) }
  }

  /// What waits for a viewer at most, its window, and some.
  private static let mostSent = 1_400_000

  private func view(
    _ plan: SessionPlan, _ store: ClientStore, _ body: (DurableSession) async -> Void
  ) async {
    while await store.resume == nil, await ledger.goesOn { await rest(.milliseconds(20)) }
    var attachment = ClientSession.Configuration(
      session: plan.id,
      client: Identifier(high: plan.outputSeed, low: plan.inputSeed))
    attachment.role = .viewer
    attachment.replay = .screen
    attachment.catchesUp = plan.hasSmallViewer
    attachment.followsSize = plan.hasSmallViewer
    var configuration = DurableSession.Configuration(host: "127.0.0.1", attachment: attachment)
    configuration.program = place.program
    let dialer = makeDialer(place.server.port)
    let session = DurableSession(configuration) { command, _ throws(AppError) in
      try await dialer.channel(running: command)
    }
    await body(session)
    // One that vanishes is expected back, and the session kept for it.
    await session.detach()
    await dialer.kill()
  }

  private func makeDialer(_ port: Int) -> SessionDialer {
    var configuration = SSHConfiguration(for: place.server)
    configuration.timeouts.handshake = .seconds(3)
    return SessionDialer(Endpoint(host: "127.0.0.1", port: port), configuration)
  }

  /// No fault stands any more, and the proxy holds no link that both ends have left.
  private func calm() async {
    do throws(FaultError) {
      try await proxy.heal()
      for event in await proxy.log where event.kind == .accepted(.ignore) {
        if let number = event.connection, await proxy.connections[number] != nil {
          try await proxy.inject(.reset, on: .connection(number))
        }
      }
    } catch {
      await ledger.breaks("session slot \(number): the proxy could not be healed: \(error)")
    }
  }

  // MARK: The end

  private func verify(
    _ plan: SessionPlan, _ ending: SessionClient.Ending, _ output: ClientStore.Output,
    _ folder: String, wasLost: Bool
  ) async {
    var wrong: [String] = []
    let files = URL(filePath: folder)
    let starts = try? String(
      contentsOf: files.appending(path: SoakProgram.starts), encoding: .utf8)
    // A keeper that is killed around the start may have started nothing.
    if starts != "started\n", starts != nil || !wasLost {
      wrong.append("starts: \(starts ?? "none")")
    }
    let found = (try? Data(contentsOf: files.appending(path: SoakProgram.findings))).flatMap {
      try? JSONDecoder().decode(SoakProgram.Findings.self, from: $0)
    }
    if found?.firstWrong != nil { wrong.append("other bytes arrived than were typed") }
    if wasLost, ending == .outcomeUnknown {
      await ledger.change { $0.lost += 1 }
    } else {
      if ending != .ended(.exited(status: plan.status)) {
        wrong.append("\(ending), not status \(plan.status)")
      }
      wrong += mismatches(plan, output, found)
      await ledger.change {
        $0.ended += 1
        $0.printed += plan.outputCount
        $0.typed += plan.inputCount
      }
    }
    for words in wrong { await ledger.breaks("\(plan.name) (\(plan.id)): \(words)") }
    if wrong.isEmpty { try? FileManager.default.removeItem(at: files) }
  }

  /// Both ends compared with what was to be said, by count and SHA-256.
  private func mismatches(
    _ plan: SessionPlan, _ output: ClientStore.Output, _ found: SoakProgram.Findings?
  ) -> [String] {
    var expected = SoakProgram.Findings()
    expected.printed = plan.outputCount
    expected.printedDigest = Self.digest(plan.output, plan.outputCount)
    expected.taken = plan.inputCount
    expected.takenDigest = Self.digest(plan.input, plan.inputCount)
    var wrong: [String] = []
    if found != expected { wrong.append("the program has \(String(describing: found))") }
    let isWhole = plan.catchesUp || output.digest.digest == expected.printedDigest
    if let difference = output.screen?.difference { wrong.append(difference) }
    if output.position != expected.printed || !isWhole {
      wrong.append("the client has \(output.position) of \(expected.printed) bytes, or others")
    }
    return wrong
  }

  private static func digest(_ bytes: SeededBytes, _ count: Int) -> String {
    var digest = SHA256()
    digest.update(bytes.bytes(0..<count))
    return digest.digest
  }
}
