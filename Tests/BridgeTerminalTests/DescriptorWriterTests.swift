import BridgeTerminal
import Foundation
import Testing

@Suite struct DescriptorWriterTests {
  @Test func partsAreWrittenOnceAndInOrder() async throws {
    let pipe = Pipe()
    let writer = DescriptorWriter(pipe.fileHandleForWriting.fileDescriptor)
    #expect(await writer.write([[1, 2], [], [3]]) == .written)
    #expect(await writer.write([[], []]) == .written)
    #expect(await writer.write([4]) == .written)
    try pipe.fileHandleForWriting.close()
    #expect(try pipe.fileHandleForReading.readToEnd() == Data([1, 2, 3, 4]))
  }

  @Test func aPartThatCannotBeWrittenEndsIt() async throws {
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    let writer = DescriptorWriter(full.fileDescriptor)
    #expect(await writer.write([[1], [2]]) == .failed)
    #expect(writer.failure == ENOSPC)
    #expect(await writer.write([3]) == .failed)
    #expect(await writer.drain() == .failed)
  }
}
