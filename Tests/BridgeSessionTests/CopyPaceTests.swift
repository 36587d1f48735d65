import BridgeErrors
import BridgeTestKit
import Testing

@testable import BridgeSession

/// A copy that carries no more bytes a second than it may.
@Suite struct CopyPaceTests {
  @Test func whatIsBeforeItIsWaitedFor() {
    let pace = CopyPace(bytesPerSecond: 1000, clock: ManualClock())
    #expect(pace.delay(of: 100, at: 50) == 0)
    #expect(pace.delay(of: 400, at: 50) == 100)
    #expect(pace.delay(of: 1, at: 150) == 400)
  }

  /// An hour without bytes is no reason to send those of an hour at once.
  @Test func timeThatIsNotUsedIsLost() {
    let pace = CopyPace(bytesPerSecond: 1000, clock: ManualClock())
    _ = pace.delay(of: 100, at: 0)
    #expect(pace.delay(of: 500, at: 3_600_000) == 0)
    #expect(pace.delay(of: 500, at: 3_600_000) == 500)
  }

  @Test func bytesThatTakeLessThanAMillisecondCount() {
    let pace = CopyPace(bytesPerSecond: 1 << 20, clock: ManualClock())
    for _ in 0..<1024 { _ = pace.delay(of: 1024, at: 0) }
    #expect(pace.delay(of: 1, at: 0) == 1000)
  }

  /// The copies of several sources begin one after the other, each with a clock of its own.
  @Test func theNextSourceDoesNotWaitForWhatIsCarried() async throws {
    let clock = ManualClock()
    let pace = CopyPace(bytesPerSecond: 1000, clock: clock)
    for _ in 0..<3 {
      let channel = ScriptedChannel("")
      let writer = Task {
        try await PacedChannel(channel, pace, isPut: true).write([UInt8](repeating: 7, count: 500))
      }
      let start = clock.elapsed
      // It is in the time in which the last bytes are carried.
      try await eventually {
        if channel.sentBytes.count == 500 { return true }
        clock.advance(by: .milliseconds(25))
        return false
      }
      try await writer.value
      #expect(clock.elapsed - start <= .milliseconds(600))
    }
  }

  @Test func allStreamsShareIt() async throws {
    let clock = ManualClock()
    let pace = CopyPace(bytesPerSecond: 800, clock: clock)
    let channels = (0..<2).map { _ in ScriptedChannel("") }
    let writers = channels.map { channel in
      let paced = PacedChannel(channel, pace, isPut: true)
      return Task { try await paced.write([UInt8](repeating: 7, count: 400)) }
    }
    // A hundred bytes each eighth of a second, whichever of the two sends them.
    while clock.elapsed < .milliseconds(875) {
      await clock.sleepers(atLeast: 1)
      let sent = channels.reduce(0) { $0 + $1.sentBytes.count }
      #expect(sent <= 100 + Int(clock.elapsed / .milliseconds(125)) * 100)
      clock.advance(by: .milliseconds(125))
    }
    for writer in writers { try await writer.value }
    #expect(channels.allSatisfy { $0.sentBytes.count == 400 })
    #expect(clock.elapsed == .milliseconds(875))
  }

  @Test func onlyTheDirectionOfTheFilesIsHeldBack() async throws {
    let clock = ManualClock()
    let pace = CopyPace(bytesPerSecond: 10, clock: clock)
    let channel = ScriptedChannel("")
    let get = PacedChannel(channel, pace, isPut: false)
    try await get.write([UInt8](repeating: 1, count: 1000))
    let sent = (0..<30).map { UInt8($0) }
    channel.send(sent)
    channel.hangUp()
    let reader = Task { () -> [UInt8] in
      var all: [UInt8] = []
      while let bytes = try await get.read() { all += bytes }
      return all
    }
    // A byte each tenth of a second, the first at once.
    for _ in 0..<29 {
      await clock.sleepers(atLeast: 1)
      clock.advance(by: .milliseconds(100))
    }
    #expect(try await reader.value == sent)
    #expect(clock.elapsed == .milliseconds(2900))
  }

  /// Ctrl-C ends a copy that waits.
  @Test func aCopyThatWaitsCanBeCanceled() async throws {
    let clock = ManualClock()
    let pace = CopyPace(bytesPerSecond: 8, clock: clock)
    let paced = PacedChannel(ScriptedChannel(""), pace, isPut: true)
    let writer = Task { try await paced.write([UInt8](repeating: 7, count: 100)) }
    await clock.sleepers(atLeast: 1)
    writer.cancel()
    let error = await #expect(throws: AppError.self) { try await writer.value }
    #expect(error == .cancelled)
  }
}
