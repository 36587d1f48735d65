import BridgeDiagnostics
import BridgeErrors
import Foundation
import Testing

private let now = Date(timeIntervalSince1970: 1_759_838_400)

private struct Stranger: Error {
  var message = "No user found with email john@example.com"
}

@Suite struct ErrorTrackerTests {
  @Test func aRecordHoldsTypeContextTimeUserAndVersion() async throws {
    let user = try #require(HashedUserID("user-17", key: Secret("installation")))
    let sink = MemorySink()
    let tracker = ErrorTracker(
      sink: sink, user: { user }, appVersion: "1.2.3", now: { now })
    await tracker.trackError(Stranger(), context: "login")
    await tracker.trackError(AppError.fileNotFound(path: "/home/ann/x"), context: "open")
    let records = await sink.records
    #expect(records.map(\.type) == ["Stranger", "fileNotFound"])
    #expect(records.map(\.context) == ["login", "open"])
    #expect(records.map(\.timestamp) == [now, now])
    #expect(records.map(\.userID) == [user.description, user.description])
    #expect(records.map(\.appVersion) == ["1.2.3", "1.2.3"])
  }

  @Test func aCancellationIsNotTracked() async {
    let sink = MemorySink()
    await ErrorTracker(sink: sink).trackError(CancellationError(), context: "x")
    await ErrorTracker(sink: sink).trackError(AppError.cancelled, context: "x")
    #expect(await sink.records.isEmpty)
  }

  @Test func noSecretAndNoPersonIsInARecord() async throws {
    let sink = MemorySink()
    let user = HashedUserID("john@example.com", key: Secret("installation"))
    let tracker = ErrorTracker(sink: sink, user: { user }, now: { now })
    let said = "password=hunter2canary for john@example.com with Bearer sk-canary-token-123456"
    for error in [Stranger(message: said), AppError.unknown(message: said)] as [any Error] {
      await tracker.trackError(error, context: said)
    }
    let text = String(
      decoding: try JSONEncoder.apiEncoder.encode(await sink.records), as: UTF8.self)
    for canary in ["hunter2canary", "john@", "sk-canary"] { #expect(!text.contains(canary)) }
  }

  @Test func theSharedTrackerRecordsAndNamesNoUser() async throws {
    await ErrorTracker.shared.trackError(Stranger(), context: "shared")
    let sink = try #require(ErrorTracker.shared.sink as? MemorySink)
    let record = try #require(await sink.records.first { $0.context == "shared" })
    #expect(record.userID == nil && record.appVersion == nil)
  }
}

@Suite struct HashedUserIDTests {
  /// RFC 4231, test case 2.
  @Test func isHMACOfSHA256() {
    let id = HashedUserID("what do ya want for nothing?", key: Secret("Jefe"))
    #expect(
      id?.description == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
  }

  @Test func dependsOnTheKey() {
    let (one, other) = (Secret("one"), Secret("other"))
    #expect(HashedUserID("u", key: one) == HashedUserID("u", key: one))
    #expect(HashedUserID("u", key: one) != HashedUserID("u", key: other))
    #expect(HashedUserID("", key: Secret("")) != nil)
  }
}

@Suite struct SinkTests {
  private func record(_ context: String, into sink: any ErrorSink) async {
    await ErrorTracker(sink: sink, now: { now }).trackError(Stranger(), context: context)
  }

  @Test func memoryKeepsTheNewest() async {
    let sink = MemorySink(capacity: 2)
    for context in ["a", "b", "c"] { await record(context, into: sink) }
    #expect(await sink.records.map(\.context) == ["b", "c"])
    #expect(await sink.dropped == 1)
  }

  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "bridge-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  @Test func aFileHoldsOneObjectALineForItsOwnerOnly() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "errors.jsonl")
      let sink = JSONLinesSink(file: file)
      await record("a\nb", into: sink)
      await record("c", into: sink)
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      let read = try lines.map {
        try JSONDecoder.apiDecoder.decode(ErrorData.self, from: Data($0.utf8))
      }
      #expect(read.map(\.context) == ["a b", "c"])
      #expect(read.map(\.timestamp) == [now, now])
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
      #expect(await sink.failures == 0)
    }
  }

  @Test func aFullFileMakesSpaceOnce() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "errors.jsonl")
      let sink = JSONLinesSink(file: file, limit: 200)
      for index in 0..<20 { await record("\(index)", into: sink) }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(Set(names) == ["errors.jsonl", "errors.jsonl.1"])
      for name in names {
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        #expect(text.utf8.count <= 200)
      }
      #expect(try String(contentsOf: file, encoding: .utf8).contains(#""context":"19""#))
    }
  }

  @Test func whatCannotBeWrittenIsCounted() async throws {
    try await withFolder { folder in
      let sink = JSONLinesSink(file: folder.appending(path: "missing/errors.jsonl"))
      await record("a", into: sink)
      #expect(await sink.failures == 1)
    }
  }
}
