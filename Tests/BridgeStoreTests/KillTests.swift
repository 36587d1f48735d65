import BridgeErrors
import BridgeRecovery
import BridgeStore
import BridgeStoreSQLite
import BridgeWaiting
import Foundation
import Testing

/// What a process does that is killed: it writes, and prints each write that was reported to it.
private enum StoreWriter {
  static let agents = 4
  /// The prefix of its lines, among those of the testing library.
  static let mark = "reported "

  private static let isTimed = Mutex(false)

  /// Writes to the store until the process is killed, at some time within 80 ms: of the start where
  /// the file is new, else of the first report, which a busy machine makes late.
  static func run(_ path: String, _ seed: UInt64) async {
    if isNewFile(seed) { killSoon(seed) }
    do {
      let store = try await SQLiteStore(at: path)
      try await withThrowingTaskGroup { group in
        for agent in 0..<agents { group.addTask { try await write("\(agent)", store, seed) } }
        try await group.waitForAll()
      }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
    }
  }

  /// Files in the making are killed as well.
  static func isNewFile(_ seed: UInt64) -> Bool { seed.isMultiple(of: 5) }

  private static func killSoon(_ seed: UInt64) {
    let wasTimed = isTimed.withLock { isTimed in
      defer { isTimed = true }
      return isTimed
    }
    guard !wasTimed else { return }
    var generator = SeededGenerator(seed: seed)
    let time = Duration.microseconds(Int64.random(in: 0...80_000, using: &generator))
    Task.detached {
      try? await ContinuousClock().sleep(for: time)
      killThisProcess()
    }
  }

  private static func write(
    _ agent: String, _ store: SQLiteStore, _ seed: UInt64
  ) async throws {
    let lease = try await store.acquire(agent, for: "writer", lasting: forLong)
    var number = try await store.state(of: agent).next
    while true {
      let point = try StoredValue(encoding: number)
      try await store.write(
        [
          .send(OutboxMessage(id: "\(number)", text: String(repeating: "x", count: 500))),
          .commit(effect: "chat", point: point), .delivered(id: "\(number - kept)"),
        ], under: lease)
      FileHandle.standardOutput.write(Data("\(mark)\(agent) \(number)\n".utf8))
      killSoon(seed)
      number += 1
    }
  }
}

/// How many messages are there at a time.
private let kept = 3

extension AgentState {
  /// The number of the next message.
  fileprivate var next: Int {
    get throws { try (commits["chat"]?.decoded(as: Int.self)).map { $0 + 1 } ?? 0 }
  }
}

@Suite("A store loses nothing by kill -9", .timeLimit(.minutes(30))) struct KillTests {
  /// `BRIDGE_STORE_KILLS=500` for a long run.
  private static let rounds =
    ProcessInfo.processInfo.environment["BRIDGE_STORE_KILLS"].flatMap { Int($0) } ?? 20

  @Test func whatWasReportedIsThereAndEveryWriteIsWhole() async throws {
    var folder = try StoreFolder()
    var last: [String: Int] = [:]
    var reports = 0
    for round in 0..<Self.rounds {
      let seed = UInt64(round)
      if StoreWriter.isNewFile(seed) { (folder, last) = (try StoreFolder(), [:]) }
      let path = folder.file("state.db")
      let result = await #expect(
        processExitsWith: .signal(9), observing: [\.standardOutputContent]
      ) { [path = path as String, seed = seed as UInt64] in
        await StoreWriter.run(path, seed)
      }
      let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
      for line in output.split(separator: "\n") where line.hasPrefix(StoreWriter.mark) {
        let words = line.dropFirst(StoreWriter.mark.count).split(separator: " ")
        let number: Int = try #require(Int(words[1]))
        last[String(words[0])] = number
        reports += 1
      }
      try await verify(path, last)
    }
    // At least one in each round but those that may be over before it.
    #expect(reports >= Self.rounds - (Self.rounds + 4) / 5)
  }

  private func verify(_ path: String, _ last: [String: Int]) async throws {
    let store = try await SQLiteStore(at: path)
    for agent in 0..<StoreWriter.agents {
      let state = try await store.state(of: "\(agent)")
      let next = try state.next
      // One write may have been made and not been reported yet.
      let reported = last["\(agent)"].map { $0 + 1 } ?? 0
      #expect(next >= reported)
      #expect(state.outbox.map(\.id) == (max(0, next - kept)..<next).map { "\($0)" })
    }
    await store.close()
  }
}
