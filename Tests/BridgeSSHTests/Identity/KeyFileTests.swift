import BridgeSSH
import Foundation
import Testing

/// In processes of their own, whose memory no other test writes to.
@Suite(.timeLimit(.minutes(1))) struct KeyFileTests {
  /// Neither as text nor decoded: a core dump or a swapped page would show it.
  @Test(.enabled(if: ProcessMemory.isSearchable), arguments: ["OPENSSH", "PKCS8"])
  func nothingOfThePrivateKeyIsLeftInMemory(format: String) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("key")
    try KeyGen.run("-q", "-t", "ecdsa", "-N", "", "-f", path)
    if format != "OPENSSH" { try KeyGen.run("-q", "-p", "-N", "", "-m", format, "-f", path) }
    let lines = try directory.text("key").split(separator: "\n").dropFirst().dropLast()
    let decoded = try #require(Base64.decode(lines.joined()))
    // Behind the public key in the one format, before it in the other: the private number is in
    // the middle of both.
    let middle = decoded.count / 2
    let needles = [
      Array(lines[lines.startIndex + lines.count / 2].utf8.prefix(48)).map { ~$0 },
      decoded[middle..<middle + 16].map { ~$0 },
    ]
    await #expect(processExitsWith: .success) {
      [path = path as String, needles = needles as [[UInt8]]] in
      guard case .success(let info) = KeyFile.read(path) else {
        Issue.record("It was not read.")
        return
      }
      #expect(info.kind == .ecdsa)
      for needle in needles { #expect(!ProcessMemory.contains(complementOf: needle)) }
    }
  }

  /// Else the test above could not fail.
  @Test(.enabled(if: ProcessMemory.isSearchable))
  func whatIsInMemoryIsFound() async throws {
    await #expect(processExitsWith: .success) {
      let bytes = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      #expect(ProcessMemory.contains(complementOf: bytes.map { ~$0 }))
      withExtendedLifetime(bytes) {}
    }
  }
}
