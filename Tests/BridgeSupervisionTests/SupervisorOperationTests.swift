import BridgeErrors
import BridgeRecovery
import BridgeSupervision
import BridgeTestKit
import Testing

@Suite struct SupervisorOperationTests {
  private struct Foreign: Error {}
  private let tries = EventRecorder<Duration>()

  private func run(
    _ scene: Scene, failing failures: Int, with error: any Error
  ) throws -> Int {
    try scene.run { [tries] in
      try await scene.supervisor.run(.idempotent) {
        tries.record(scene.clock.elapsed)
        if tries.events.count <= failures { throw error }
        return tries.events.count
      }
    }
  }

  @Test func whatWorksIsRunOnceAndSaysNothing() throws {
    let scene = Scene()
    #expect(try run(scene, failing: 0, with: Foreign()) == 1)
    #expect(scene.events.events.isEmpty)
  }

  @Test func itIsRunAgainAfterTwoFourAndEightSeconds() throws {
    let scene = Scene()
    #expect(try run(scene, failing: 3, with: AppError.networkUnavailable) == 4)
    #expect(tries.events == [0, 2, 6, 14].map { .seconds($0) })
    #expect(try scene.shown() == nil)
  }

  @Test func afterThreeRetriesTheLastErrorIsThrownAndShown() throws {
    let scene = Scene()
    #expect(throws: AppError.timeout(seconds: 3)) {
      try run(scene, failing: 9, with: AppError.timeout(seconds: 3))
    }
    #expect(tries.events.count == 4)
    let shown = try scene.shown()
    #expect(shown?.message == AppError.timeout(seconds: 3).userMessage)
  }

  @Test(arguments: [
    AppError.apiUnauthorized, .sshAuthenticationFailed(method: "m"), .sshHostKeyMismatch(host: "h"),
    .sshOutcomeUnknown(command: "c"), .sslError(description: "d"), .unknown(message: "m"),
  ])
  func whatAPersonMustDecideIsNotRunAgain(error: AppError) throws {
    #expect(throws: error) { try run(Scene(), failing: 9, with: error) }
    #expect(tries.events.count == 1)
  }

  @Test func aForeignErrorIsThrownAsItWas() throws {
    #expect(throws: Foreign.self) { try run(Scene(), failing: 9, with: Foreign()) }
    #expect(tries.events.count == 1)
  }

  @Test func aRetryableErrorOfAnAPIIsRunAgain() throws {
    #expect(try run(Scene(), failing: 1, with: APIError.serverError(503)) == 2)
    #expect(tries.events == [.zero, .seconds(2)])
  }

  @Test func aDelayGivenByTheServerIsObeyed() throws {
    #expect(try run(Scene(), failing: 1, with: AppError.apiRateLimited(retryAfter: 7)) == 2)
    #expect(tries.events == [.zero, .seconds(7)])
  }

  @Test func cancellationIsNeverRunAgainNorShown() throws {
    let scene = Scene()
    #expect(throws: CancellationError.self) {
      try run(scene, failing: 9, with: CancellationError())
    }
    #expect(tries.events.count == 1)
    #expect(scene.events.events.isEmpty)
  }

  /// Its task goes on: what it throws says that the link was closed, not that it was canceled.
  @Test func aClosedLinkDoesNotLookLikeACanceledTask() throws {
    let scene = Scene()
    #expect(throws: AppError.cancelled) { try run(scene, failing: 9, with: AppError.cancelled) }
    #expect(tries.events.count == 1)
    #expect(scene.events.events.isEmpty)
  }

  @Test func cancellingDuringTheWaitEndsItWithoutTheClockMoving() throws {
    let scene = Scene()
    try scene.run {
      let running = Task(executorPreference: scene.executor) {
        try await scene.supervisor.run(.idempotent) { throw AppError.networkUnavailable }
      }
      await scene.clock.sleepers(atLeast: 1)
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
    }
    #expect(scene.clock.elapsed == .zero)
    #expect(scene.clock.sleeperCount == 0)
    #expect(try scene.shown() == nil)
  }

  @Test func askingForItNowEndsTheWait() throws {
    let scene = Scene()
    try scene.run { [tries] in
      let running = Task(executorPreference: scene.executor) {
        try await scene.supervisor.run(.idempotent) {
          tries.record(scene.clock.elapsed)
          if tries.events.count == 1 { throw AppError.networkUnavailable }
        }
      }
      await scene.clock.sleepers(atLeast: 1)
      await scene.supervisor.reconnectNow()
      try await running.value
    }
    #expect(tries.events == [.zero, .zero])
  }

  @Test func aChangedPathDoesNotShortenAWaitThatTheServerAskedFor() throws {
    let scene = Scene()
    try scene.run { [tries] in
      let running = Task(executorPreference: scene.executor) {
        try await scene.supervisor.run(.idempotent) {
          tries.record(scene.clock.elapsed)
          if tries.events.count == 1 { throw AppError.apiRateLimited(retryAfter: 60) }
        }
      }
      await scene.clock.sleepers(atLeast: 1)
      await scene.supervisor.networkChanged()
      try await running.value
    }
    #expect(tries.events == [.zero, .seconds(60)])
  }

  /// What a run that is not idempotent may have done already is not risked twice.
  @Test(arguments: [
    (AppError.timeout(seconds: 3), 1), (.serverError(status: 503, message: nil), 1),
    (.networkUnavailable, 4), (.dnsError(host: "h"), 4), (.apiRateLimited(retryAfter: 1), 4),
  ])
  func byDefaultItIsRunAgainOnlyWhereItCannotHaveHadItsEffect(
    error: AppError, runs: Int
  ) throws {
    let scene = Scene()
    #expect(throws: error) {
      try scene.run { [tries] in
        try await scene.supervisor.run {
          tries.record(scene.clock.elapsed)
          throw error
        }
      }
    }
    #expect(tries.events.count == runs)
    #expect(try scene.shown()?.error == error)
  }

  @Test func nothingIsRunAgainAfterTheSupervisorWasShutDown() throws {
    let scene = Scene()
    try scene.run { [tries] in
      let running = Task(executorPreference: scene.executor) {
        try await scene.supervisor.run(.idempotent) {
          tries.record(scene.clock.elapsed)
          throw AppError.networkUnavailable
        }
      }
      await scene.clock.sleepers(atLeast: 1)
      await scene.supervisor.shutDown()
      await #expect(throws: AppError.networkUnavailable) { try await running.value }
      await #expect(throws: AppError.networkUnavailable) {
        try await scene.supervisor.run(.idempotent) {
          tries.record(scene.clock.elapsed)
          throw AppError.networkUnavailable
        }
      }
    }
    #expect(tries.events == [.zero, .zero])
  }

  @Test func successOfASourceTakesItsErrorsAway() throws {
    let scene = Scene()
    try scene.run {
      await scene.supervisor.report(.databaseError(operation: "o", detail: "d"), source: "s")
      try await scene.supervisor.run(source: "s") {}
    }
    #expect(try scene.shown() == nil)
  }
}

@Suite struct SupervisorChoiceTests {
  /// A button that does nothing is worse than none.
  @Test func withoutAHandlerOnlyOptionsAreOfferedThatAct() throws {
    let scene = Scene()
    let operation = AppError.timeout(seconds: 1)
    try scene.run {
      try? await scene.supervisor.run(source: "s") { throw operation }
      await scene.supervisor.report(.fileNotFound(path: "/a"))
      let entries = [await scene.supervisor.shown].compactMap(\.self)
      let all = await entries + scene.supervisor.waiting
      #expect(all.count == 2)
      for entry in all {
        #expect(!entry.options.isEmpty)
        for option in entry.options {
          #expect(await scene.supervisor.choose(option, for: entry.id), "\(option)")
          break
        }
      }
    }
  }

  @Test func withoutAHandlerAFailedLinkOffersToReconnectAndToClose() throws {
    let scene = Scene()
    scene.host.answer = .refuse
    try scene.run { try await scene.supervisor.add(scene.link()) }
    try scene.pass(.seconds(1))
    #expect(try scene.shown()?.options == [.reconnect, .cancel])
  }

  private static let error = AppError.fileNotFound(path: "/a")

  private func scene(throwing failures: [any Error]) -> (Scene, EventRecorder<String>) {
    let chosen = EventRecorder<String>()
    let scene = Scene { kind, presented in
      chosen.record("\(kind.rawValue) \(presented.error.caseName)")
      if chosen.events.count <= failures.count { throw failures[chosen.events.count - 1] }
    }
    return (scene, chosen)
  }

  @Test func anOptionThatWorksTakesTheErrorAway() throws {
    let (scene, chosen) = scene(throwing: [])
    try scene.run {
      await scene.supervisor.report(Self.error)
      await scene.supervisor.choose(.browse)
    }
    #expect(chosen.events == ["browse fileNotFound"])
    #expect(try scene.shown() == nil)
  }

  @Test func anOptionThatFailsShowsTheSameErrorAgainWithAnUpdatedMessage() throws {
    struct Foreign: Error {}
    let (scene, _) = scene(throwing: [Self.error, Foreign(), AppError.timeout(seconds: 2)])
    let message = Self.error.userMessage
    try scene.run {
      await scene.supervisor.report(Self.error)
      let id = try #require(await scene.supervisor.shown?.id)
      await scene.supervisor.choose(.retry)
      #expect(await scene.supervisor.shown?.message == message + " Retry failed (attempt 1).")
      await scene.supervisor.choose(.retry, for: id)
      #expect(await scene.supervisor.shown?.message == message + " Retry failed (attempt 2).")
      await scene.supervisor.choose(.retry)
      #expect(await scene.supervisor.shown?.error == .timeout(seconds: 2))
      #expect(await scene.supervisor.shown?.id == id)
    }
  }

  /// The link healed while a person looked for a file to write to; that it failed is news even so.
  @Test(arguments: [AppError.fileWriteError(path: "/s", reason: "r"), .unknown(message: "m")])
  func anOptionThatFailsAfterItsErrorHasGoneIsReportedAnew(failure: AppError) throws {
    let scene = EventRecorder<Scene>()
    let made = Scene { _, presented in
      await scene.events.first?.supervisor.resolve(source: presented.source ?? "")
      throw failure
    }
    scene.record(made)
    try made.run {
      await made.supervisor.report(Self.error, source: "s")
      await made.supervisor.choose(.checkSettings)
      #expect(await made.supervisor.shown?.error == failure)
    }
  }

  @Test(arguments: [ErrorRecoveryOption.Kind.dismiss, .cancel])
  func dismissingShowsTheNext(kind: ErrorRecoveryOption.Kind) throws {
    let (scene, chosen) = scene(throwing: [])
    try scene.run {
      await scene.supervisor.report(Self.error)
      await scene.supervisor.report(.networkUnavailable)
      await scene.supervisor.choose(kind)
      #expect(await scene.supervisor.shown?.error == .networkUnavailable)
      #expect(await scene.supervisor.waiting.isEmpty)
    }
    #expect(chosen.events.isEmpty)
  }

  @Test func choosingWithNothingShownDoesNothing() throws {
    let (scene, chosen) = scene(throwing: [])
    try scene.run { await scene.supervisor.choose(.retry) }
    #expect(chosen.events.isEmpty)
  }

  @Test func aSlowReaderLosesTheOldestAndIsToldHowMany() throws {
    let (scene, _) = scene(throwing: [])
    let late = scene.supervisor.events()
    try scene.run {
      for number in 0..<(2 * RecoveryDefaults.eventBuffer) {
        await scene.supervisor.report(.invalidURL(string: "\(number)"))
      }
      await scene.supervisor.shutDown()
    }
    let seen = try scene.run {
      var seen: [RecoveryEvent] = []
      for await event in late { seen.append(event) }
      return seen
    }
    let last = try #require(seen.last?.sequence)
    guard case .missed(let count)? = seen.first?.step else {
      Issue.record("nothing was missed")
      return
    }
    #expect(seen.count - 1 + count == Int(last))
    #expect(seen.count - 1 == RecoveryDefaults.eventBuffer)
  }
}
