import BridgeTerminal
import BridgeWaiting
import Foundation
import Testing

@Suite struct DescriptorReaderTests {
  private func isEnd(_ chunk: DescriptorReader.Chunk) -> Bool {
    if case .end = chunk { true } else { false }
  }

  @Test func aDescriptorForWritingOnlyIsEmpty() async throws {
    let output = try #require(FileHandle(forWritingAtPath: "/dev/null"))
    let failures = Mutex([Int32]())
    let reader = DescriptorReader(output.fileDescriptor) { errno in
      failures.withLock { $0.append(errno) }
    }
    #expect(isEnd(await reader.read()))
    #expect(isEnd(await reader.read()))
    #expect(failures.withLock(\.self).isEmpty)
    reader.stop()
  }

  @Test func aReadThatFailsIsNoEnd() async throws {
    let folder = try #require(FileHandle(forReadingAtPath: "/"))
    let failures = Mutex([Int32]())
    let reader = DescriptorReader(folder.fileDescriptor) { errno in
      failures.withLock { $0.append(errno) }
    }
    #expect(!isEnd(await reader.read()))
    #expect(failures.withLock(\.self) == [EISDIR])
    reader.stop()
  }

  @Test func whatAPipeHasComesBeforeItsEnd() async throws {
    let pipe = Pipe()
    let reader = DescriptorReader(pipe.fileHandleForReading.fileDescriptor)
    try pipe.fileHandleForWriting.write(contentsOf: Data([1, 2]))
    try pipe.fileHandleForWriting.close()
    guard case .bytes([1, 2]) = await reader.read() else { throw CancellationError() }
    #expect(isEnd(await reader.read()))
    reader.stop()
  }

  /// The rest of an answer is typed without looking: it must not be run by a shell.
  @Test(arguments: [
    ("word\rls\r", "ls\r", 5), ("word\nls", "ls", 5), ("ab\u{3}x", "x", 3), ("\rx", "x", 1),
  ])
  func theRestOfALostAnswerIsDropped(_ typed: String, _ input: String, _ count: Int) async throws {
    let pair = try #require(TerminalPair())
    pair.makeRaw()
    let reader = DescriptorReader(pair.terminal)
    let dropped = Mutex(0)
    reader.dropAnswer(quiet: .seconds(3600)) { count in dropped.withLock { $0 = count } }
    for byte in typed.utf8 { pair.type([byte]) }
    var read: [UInt8] = []
    while read.count < input.utf8.count, case .bytes(let bytes) = await reader.read() {
      read += bytes
    }
    #expect(String(decoding: read, as: UTF8.self) == input)
    #expect(dropped.withLock(\.self) == count)
    reader.stop()
  }

  /// Who has stopped typing has seen that it is gone.
  @Test func aLostAnswerIsOverAfterAPause() async throws {
    let pair = try #require(TerminalPair())
    pair.makeRaw()
    let reader = DescriptorReader(pair.terminal)
    reader.dropAnswer(quiet: .zero) { _ in Issue.record("nothing was dropped") }
    pair.type(Array("ls".utf8))
    var read: [UInt8] = []
    while read.count < 2, case .bytes(let bytes) = await reader.read() { read += bytes }
    #expect(read == Array("ls".utf8))
    reader.stop()
  }

  /// A question waits for that: who types on does not look.
  @Test func whoTypesIsWaitedForUntilThereIsAPause() async throws {
    let pair = try #require(TerminalPair())
    let reader = DescriptorReader(pair.terminal)
    let pause = Duration.milliseconds(50)
    #expect(!reader.isTypedInto)
    await reader.untilQuiet(for: .seconds(3600))
    let begun = ContinuousClock.now
    try FileHandle(fileDescriptor: pair.controller).write(contentsOf: Data("a\n".utf8))
    guard case .bytes = await reader.read() else { throw CancellationError() }
    #expect(reader.isTypedInto)
    await reader.untilQuiet(for: pause)
    #expect(ContinuousClock.now - begun >= pause)
    reader.stop()
    pair.close()
  }

  @Test func aPipeIsNotTypedInto() async throws {
    let pipe = Pipe()
    let reader = DescriptorReader(pipe.fileHandleForReading.fileDescriptor)
    try pipe.fileHandleForWriting.write(contentsOf: Data([1, 2]))
    _ = await reader.read()
    #expect(!reader.isTypedInto)
    await reader.untilQuiet(for: .seconds(3600))
    reader.stop()
  }
}
