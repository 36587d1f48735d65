import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import BridgeTransport
import Testing

/// The error of an operation; nil, and a failed test, where there is none.
func failure<Value>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Value
) async -> AppError? {
  do {
    _ = try await body()
    Issue.record("no error was thrown", sourceLocation: sourceLocation)
  } catch let error as AppError {
    return error
  } catch {
    Issue.record("\(error)", sourceLocation: sourceLocation)
  }
  return nil
}

@Suite("A durable session says what ended it")
struct DurableSessionFailureTests {
  private static let refusals: [(Refusal.Code, AppError)] = [
    (.unknownSession, .durableSessionNotFound(host: "build", id: "\(ScriptedHost.id)")),
    (.notStarted, .durableSessionNotFound(host: "build", id: "\(ScriptedHost.id)")),
    (.conflict, .durableSessionConflict(host: "build", id: "\(ScriptedHost.id)")),
    (.replaced, .durableSessionReplaced(host: "build", by: "")),
    (.limit, .durableSessionFull(host: "build")),
    (.violation, .sshProtocolError(host: "build", detail: "why")),
    (.storage, .fileWriteError(path: "build: the session's directory", reason: "why")),
    (.outcomeUnknown, .durableSessionOutcomeUnknown(host: "build", reason: "why")),
    (
      .version,
      .durableSessionHostUnusable(
        host: "build", reason: "its bridge-host speaks another version of the protocol")
    ),
    (.directory, .durableSessionHostUnusable(host: "build", reason: "why")),
    (.cannotExecute, .durableSessionHostUnusable(host: "build", reason: "why")),
    (Refusal.Code(rawValue: 99), .durableSessionHostUnusable(host: "build", reason: "why")),
  ]

  @Test(arguments: refusals.indices)
  func aRefusalIsTypedAndFinal(index: Int) async throws {
    let (code, expected) = Self.refusals[index]
    let host = ScriptedHost { channel in
      channel.send(channel.marker)
      channel.send(.refused(Refusal(code, "why")))
    }
    let session = host.session()
    #expect(await failure { try await session.attach() } == expected)
    #expect(await failure { try await session.exitStatus() } == expected)
    #expect(await failure { try await session.write([1]) } == expected)
    #expect(await failure { try await drain(session) } == expected)
    // What was refused is not tried again.
    #expect(await host.channels.count == 1)
  }

  @Test func aMissingProgramOnTheHostIsNamed() async throws {
    let host = ScriptedHost(ending: .finished(status: 127)) { channel in
      channel.send(Array("hello from .profile\n\(HostCommand.missing)\n".utf8))
      channel.hangUp()
    }
    let session = host.session()
    let error = await failure { try await session.attach() }
    #expect(
      error
        == .durableSessionHostUnusable(host: "build", reason: "bridge-host is not installed"))
    #expect(error?.exitCode() == .configuration)
  }

  @Test func aProgramThatCannotRunIsQuoted() async throws {
    let host = ScriptedHost(ending: .finished(status: 126)) { channel in
      channel.send(Array("sh: bridge-host: Exec format error\n".utf8))
      channel.hangUp()
    }
    let session = host.session()
    #expect(
      await failure { try await session.attach() }
        == .durableSessionHostUnusable(
          host: "build",
          reason: "the command that runs bridge-host ended with status 126: "
            + "sh: bridge-host: Exec format error; its bridge-host may be damaged: "
            + "`bridgectl install` replaces it"))
  }

  /// Its account has no process left for a moment, or for longer than is waited. The first time is
  /// not counted: the hello was on its way, and another program may have read it.
  @Test(arguments: [3, 4])
  func aHostThatHasRunASessionAndCannotNowIsAskedAgain(failures: Int) async throws {
    let (welcome, fail) = (
      { @Sendable (channel: ScriptedChannel) in
        channel.greet()
        channel.hangUp()
      },
      { @Sendable (channel: ScriptedChannel) in
        channel.send(Array("bash: fork: Resource temporarily unavailable\n".utf8))
        channel.hangUp()
      }
    )
    let host = ScriptedHost(
      ending: .finished(status: 254), welcome, fail, fail, fail,
      failures < 4 ? welcome : fail)
    let session = host.session { $0.refusalPauses = [.zero, .zero] }
    let error = await failure { try await session.exitStatus() }
    #expect(await host.channels.count == 5)
    #expect(error?.caseName == (failures < 4 ? "networkUnavailable" : "durableSessionHostUnusable"))
  }

  /// Its keeper is stopped, or waits for a disk: the program goes on, and so does the wait.
  @Test func aKeeperThatDoesNotAnswerForAWhileIsAskedAgain() async throws {
    let refuse = { @Sendable (channel: ScriptedChannel) in
      channel.send(channel.marker)
      channel.send(.refused(Refusal(.directory, "The keeper of 5 (process 7) does not answer.")))
      channel.hangUp()
    }
    let host = ScriptedHost(
      ending: .finished(status: 78),
      { channel in
        channel.greet()
        channel.hangUp()
      }, refuse, refuse,
      { channel in
        channel.greet()
        channel.send(.ended(at: 0, .exited(status: 3)))
      })
    let session = host.session()
    var refusals = 0
    #expect(try await session.exitStatus() == .exited(status: 3))
    await session.detach()
    for await event in session.events { if case .refused = event { refusals += 1 } }
    #expect(refusals == 2)
    #expect(await host.channels.count == 4)
  }

  /// Another machine has it, for instance: that does not end by itself.
  @Test func aSessionThatAnotherMachineHasIsNotWaitedFor() async throws {
    let refuse = { @Sendable (channel: ScriptedChannel) in
      channel.send(channel.marker)
      channel.send(.refused(Refusal(.directory, "Session 5 runs on another machine: west.")))
      channel.hangUp()
    }
    let host = ScriptedHost(
      ending: .finished(status: 78),
      { channel in
        channel.greet()
        channel.hangUp()
      }, refuse)
    let error = await failure { try await host.session().exitStatus() }
    #expect(error?.caseName == "durableSessionOutcomeUnknown")
    #expect(await host.channels.count == 2)
  }

  @Test func aHostThatBreaksTheProtocolIsLeft() async throws {
    let host = ScriptedHost { channel in
      channel.greet()
      channel.send(.output(offset: 5, stream: .standardOutput, bytes: [1]))
    }
    let session = host.session()
    _ = try await session.attach()
    #expect(
      await failure { try await drain(session) }
        == .sshProtocolError(host: "build", detail: "bridge-host: expected 0, found 5"))
    #expect(await host.channels.count == 1)
  }

  @Test func whatComesBeforeAnErrorIsReadFirst() async throws {
    let host = ScriptedHost { channel in
      channel.greet { $0.newest = 3 }
      channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1, 2, 3]))
      let text = "Client \(Identifier(high: 9, low: 9)) took the session over."
      channel.send(.refused(Refusal(.replaced, text)))
    }
    let session = host.session()
    _ = try await session.attach()
    let iterator = session.output.makeAsyncIterator()
    #expect(
      try await iterator.next()
        == SessionChunk(offset: 0, content: .bytes([1, 2, 3], .standardOutput)))
    #expect(
      await failure { try await iterator.next() }
        == .durableSessionReplaced(host: "build", by: "\(Identifier(high: 9, low: 9))"))
  }

  @Test(arguments: [
    "Client ID from 10.0.0.5 took the session over.",
    "Client ID from 10.0.0.5 took the session over: this one was silent.",
  ])
  func itsSuccessorIsNamedWithItsAddress(_ text: String) {
    let other = Identifier(high: 9, low: 9)
    let refusal = Refusal(.replaced, text.replacing("ID", with: "\(other)"))
    #expect(
      SessionFailure.error(refusal, host: "build", session: ScriptedHost.id)
        == .durableSessionReplaced(host: "build", by: "\(other) from 10.0.0.5"))
  }

  @Test func attachmentsThatEndAtOnceAreNotRepeatedForEver() async throws {
    let greet: @Sendable (ScriptedChannel) -> Void = { channel in
      channel.greet()
      channel.hangUp()
    }
    let host = ScriptedHost(greet, greet, greet, greet, greet, greet, greet, greet)
    let session = host.session()
    _ = try await session.attach()
    #expect(
      await failure { try await session.exitStatus() }
        == .durableSessionHostUnusable(
          host: "build", reason: "its attachments end as soon as they begin"))
    #expect(await host.channels.count == 5)
  }

  @Test func aLostLinkIsAttachedAgainWithoutALimit() async throws {
    let lost = ByteChannelEnding.lost(.sshTimeout(seconds: 3))
    let greet: @Sendable (ScriptedChannel) -> Void = { channel in
      channel.greet()
      channel.hangUp()
    }
    let host = ScriptedHost(
      ending: lost, greet, greet, greet, greet, greet, greet, greet, greet)
    let session = host.session()
    _ = try await session.attach()
    // Eight attachments, then what the function threw.
    #expect(await failure { try await session.exitStatus() } == .networkUnavailable)
    #expect(await host.channels.count == 8)
    #expect(await host.endings == [nil] + Array(repeating: lost, count: 8))
  }

  @Test func aWriterThatWasReplacedWhileAwayIsToldByWhom() async throws {
    let other = Identifier(high: 9, low: 9)
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)),
      { channel in
        channel.greet()
        channel.hangUp()
      },
      { channel in
        channel.greet {
          $0.role = .viewer
          $0.writer = other
          $0.lease = 2
        }
      })
    let session = host.session()
    _ = try await session.attach()
    #expect(
      await failure { try await session.exitStatus() }
        == .durableSessionReplaced(host: "build", by: "\(other)"))
  }

  @Test(arguments: [
    (ProgramEnd.unknownKeeperDied, "the keeper of the session died"),
    (.unknownRebooted, "the session was lost by a reboot"),
  ])
  func anEndThatWasNotRecordedIsNoStatus(end: ProgramEnd, reason: String) async throws {
    let host = ScriptedHost { channel in
      channel.greet { $0.hasEnded = true }
      channel.send(.ended(at: 0, end))
    }
    let session = host.session()
    #expect(
      await failure { try await session.exitStatus() }
        == .durableSessionOutcomeUnknown(host: "build", reason: reason))
    #expect(await session.ending == end)
    // Its output has ended all the same.
    #expect(try await drain(session).bytes.isEmpty)
    await session.detach()
  }
}

@Suite("A durable session goes on where it was")
struct DurableSessionResumeTests {
  @Test func aGapStandsInItsPlace() async throws {
    let host = ScriptedHost { channel in
      channel.greet { $0.newest = 12 }
      channel.send(.output(offset: 0, stream: .standardError, bytes: [1, 2]))
      channel.send(.gap(from: 2, to: 10))
      channel.send(.output(offset: 10, stream: .standardOutput, bytes: [3, 4]))
      channel.send(.ended(at: 12, .exited(status: 3)))
    }
    let session = host.session()
    _ = try await session.attach()
    #expect(try await session.exitStatus() == .exited(status: 3))
    let output = try await drain(session)
    #expect(output.bytes == [.standardError: [1, 2], .standardOutput: [3, 4]])
    #expect(output.gaps == [2..<10])
    #expect(await session.resumePoint == ResumePoint(epoch: ScriptedHost.epoch, received: 12))
    await session.detach()
  }

  /// After leaving, what may not have reached the program can be counted.
  @Test(arguments: [false, true]) func inputThatWasNotTakenIsCounted(isTaken: Bool) async throws {
    let host = ScriptedHost { channel in channel.greet() }
    let session = host.session()
    _ = try await session.attach()
    try await session.write([1, 2, 3])
    let channel = try #require(await host.channels.first)
    try await channel.waitForFrame { $0 == .input(offset: 0, bytes: [1, 2, 3]) }
    #expect(await session.inputUntaken == 3)
    if isTaken { channel.send(.acknowledge(through: 3, settled: 0)) }
    await session.detach()
    #expect(await session.inputUntaken == (isTaken ? 0 : 3))
  }

  @Test func outputGoesOnAtTheByteAndInputIsSentAgain() async throws {
    let host = ScriptedHost(
      ending: .lost(.sshTimeout(seconds: 1)),
      { channel in
        channel.greet { $0.newest = 2 }
        channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1, 2]))
      },
      { $0.send($0.marker) })
    let session = host.session()
    var channels = host.made.makeAsyncIterator()
    _ = try await session.attach()
    #expect(try await session.write([7, 8, 9]) == 3)
    let first = try #require(await channels.next())
    try await first.waitForFrame { $0 == .input(offset: 0, bytes: [7, 8, 9]) }
    first.hangUp()
    let second = try #require(await channels.next())
    try await second.waitForFrame { frame in
      if case .hello(let hello) = frame {
        hello.resume == ResumePoint(epoch: ScriptedHost.epoch, received: 2)
      } else {
        false
      }
    }
    second.send(
      ScriptedHost.welcome {
        $0.newest = 4
        $0.resume = 2
        $0.inputTaken = 1
        $0.inputAccepted = 1
      })
    // Only what the host has not accepted goes again.
    try await second.waitForFrame { $0 == .input(offset: 1, bytes: [8, 9]) }
    second.send(.output(offset: 2, stream: .standardOutput, bytes: [3, 4]))
    second.send(.ended(at: 4, .exited(status: 0)))
    #expect(try await session.exitStatus() == .exited(status: 0))
    #expect(try await drain(session).bytes == [.standardOutput: [1, 2, 3, 4]])
    await session.detach()
  }

  /// What carries the channel is closed under it, as a supervisor does with a link whose peer is
  /// declared dead.
  @Test func aChannelThatAnotherOwnerClosedIsFollowedByTheNext() async throws {
    let host = ScriptedHost(
      ending: .closed,
      { channel in
        channel.greet { $0.newest = 2 }
        channel.send(.output(offset: 0, stream: .standardOutput, bytes: [1, 2]))
        channel.hangUp()
      },
      { channel in
        channel.greet {
          $0.newest = 3
          $0.resume = 2
        }
        channel.send(.output(offset: 2, stream: .standardOutput, bytes: [3]))
        channel.send(.ended(at: 3, .exited(status: 4)))
      })
    let session = host.session()
    _ = try await session.attach()
    #expect(try await session.exitStatus() == .exited(status: 4))
    #expect(try await drain(session).bytes == [.standardOutput: [1, 2, 3]])
    #expect(await host.endings == [nil, .closed])
    await session.detach()
  }

  @Test func aReaderThatStopsHoldsBackTheHost() async throws {
    let host = ScriptedHost { channel in
      channel.greet { $0.newest = 1 << 21 }
      var offset: UInt64 = 0
      while offset < 1 << 20 {
        channel.send(
          .output(
            offset: offset, stream: .standardOutput, bytes: [UInt8](repeating: 1, count: 1 << 16)))
        offset += 1 << 16
      }
    }
    let session = host.session()
    _ = try await session.attach()
    let channel = try #require(await host.channels.first)
    // Nothing is acknowledged that was not read.
    let iterator = session.output.makeAsyncIterator()
    let chunk = try #require(try await iterator.next())
    try await channel.waitForFrame { frame in
      if case .acknowledge(let through, _) = frame { through == chunk.end } else { false }
    }
    await session.detach()
  }

  @Test func acceptedCallsEndWhenTheirTaskIsCanceled() async throws {
    let host = ScriptedHost { $0.greet() }
    let session = host.session()
    _ = try await session.attach()
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await session.exitStatus() },
      { for try await _ in session.output {} },
      { _ = try await session.write([UInt8](repeating: 7, count: 3 << 20)) },
      { try await session.inputTaken(through: 9) },
    ]
    for call in calls {
      let calling = Task { await failure { try await call() } }
      calling.cancel()
      #expect(await calling.value == .cancelled)
    }
    await session.detach()
  }

  @Test func detachingIsSaidAndEndsTheOutput() async throws {
    let host = ScriptedHost { $0.greet() }
    let session = host.session()
    _ = try await session.attach()
    let channel = try #require(await host.channels.first)
    async let left: Void = session.detach()
    try await channel.waitForFrame { frame in
      if case .control(_, .detach) = frame { true } else { false }
    }
    channel.hangUp()
    await left
    #expect(try await drain(session).bytes.isEmpty)
    #expect(await failure { try await session.exitStatus() } == .cancelled)
  }

  @Test func detachingWithoutALinkReturnsAtOnce() async throws {
    let waits = AsyncStream<Void>.makeStream()
    let never = AsyncStream<Void>.makeStream()
    let session = DurableSession(
      .init(
        host: "build",
        attachment: .init(session: ScriptedHost.id, client: Identifier(high: 1, low: 1)))
    ) { _, _ throws(AppError) in
      waits.continuation.yield()
      for await _ in never.stream {}
      throw .cancelled
    }
    let attaching = Task { await failure { try await session.attach() } }
    for await _ in waits.stream { break }
    await session.detach()
    #expect(await attaching.value == .cancelled)
    never.continuation.finish()
  }
}
