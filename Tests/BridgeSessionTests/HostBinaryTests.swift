import BridgeErrors
import BridgeSession
import Foundation
import Testing

@Suite("Only a program for Linux is installed as bridge-host") struct HostBinaryTests {
  private func path(_ name: String) -> String {
    FileManager.default.temporaryDirectory.appending(path: "\(name)-\(UUID())").path
  }

  @Test func aFileThatIsNotThereIsRefused() async {
    let path = path("missing")
    #expect(await failure { try HostBinary(path: path) } == .fileNotFound(path: path))
    #expect(await failure { try HostBinary(path: "a\0b") }?.caseName == "fileReadError")
  }

  @Test(arguments: [Data(), Data("#!/bin/sh\n".utf8), Data([0x7F, 0x45, 0x4C, 0x46])])
  func aFileOfAnotherKindIsRefused(_ content: Data) async throws {
    let path = path("other")
    try content.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(
      await failure { try HostBinary(path: path) }
        == .fileReadError(path: path, reason: "It is not an executable for Linux (ELF)."))
  }

  @Test func aDirectoryIsRefused() async {
    #expect(await failure { try HostBinary(path: "/tmp") }?.caseName == "fileReadError")
  }

  @Test func itsDigestIsThatOfSHA256Sum() throws {
    let program = try HostBinary(path: SessionServer.program)
    let sum = try ShortProcess.run(["/usr/bin/sha256sum", SessionServer.program], environment: [:])
    #expect(sum.output.hasPrefix("\(program.digest) "))
  }

  @Test func aMachineOfAnotherKindIsRefused() throws {
    var bytes = [UInt8](repeating: 0, count: 65)
    bytes.replaceSubrange(0..<4, with: [0x7F, 0x45, 0x4C, 0x46])
    bytes[18] = 62
    let program = try HostBinary(bytes, path: "x")
    #expect(program.refusal(of: "Linux x86_64") == nil)
    #expect(program.refusal(of: "Linux unheard-of")?.contains("unheard-of") == true)
    #expect(program.refusal(of: "Linux aarch64")?.contains("aarch64") == true)
    #expect(program.refusal(of: "Darwin x86_64")?.hasPrefix("bridge-host is for Linux") == true)
  }
}
