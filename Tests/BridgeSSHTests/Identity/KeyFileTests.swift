import BridgeErrors
import BridgeTestKit
import Foundation
import Testing

@testable import BridgeSSH

/// In processes of their own, whose memory no other test writes to.
@Suite(.timeLimit(.minutes(5))) struct KeyFileTests {
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
      ProcessLimit.begin()
      guard case .success(let info) = KeyFile.read(path) else {
        Issue.record("It was not read.")
        return
      }
      #expect(info.kind == .ecdsa)
      for needle in needles { #expect(!ProcessMemory.contains(complementOf: needle)) }
    }
  }

  /// Nor when it is opened, has signed and is given up. Two rows are missing: ssh-keygen writes no
  /// Ed25519 key as PKCS#8, and libssh2 1.10, which decrypts OpenSSH's form, loses a number of
  /// OpenSSL's with an ECDSA key (docs/limits.md).
  @Test(
    .enabled(if: ProcessMemory.isSearchable),
    arguments: [
      ("OPENSSH", "ed25519", ""), ("OPENSSH", "ed25519", "open sesame"), ("OPENSSH", "ecdsa", ""),
      ("PKCS8", "ecdsa", ""), ("PKCS8", "ecdsa", "open sesame"),
    ])
  func nothingOfAKeyThatSignedIsLeftInMemory(
    format: String, type: String, passphrase: String
  ) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("key")
    try KeyGen.run("-q", "-t", type, "-N", "", "-f", path)
    let number = try Self.privateNumber(directory, type)
    let form = format == "OPENSSH" ? "RFC4716" : format
    try KeyGen.run("-q", "-p", "-m", form, "-a", "4", "-P", "", "-N", passphrase, "-f", path)
    // libssh2 1.11 turns it round in place.
    let needles = [number, number.reversed()].map { $0[8..<24].map { ~$0 } }
    await #expect(processExitsWith: .success) {
      [
        path = path as String, passphrase = passphrase as String, needles = needles as [[UInt8]]
      ] in
      ProcessLimit.begin()
      func signs() -> Bool {
        guard case .success(let info) = KeyFile.read(path),
          case .key(let key) = PrivateKey.read(
            path, info, passphrase: passphrase.isEmpty ? nil : Secret(passphrase))
        else { return false }
        return key.sign([1, 2, 3]) != nil
      }
      #expect(signs())
      for needle in needles { #expect(!ProcessMemory.contains(complementOf: needle)) }
    }
  }

  /// Of a key in OpenSSH's form that is not encrypted (PROTOCOL.key): before the last public key or
  /// in the string behind it.
  private static func privateNumber(
    _ directory: TemporaryDirectory, _ type: String
  ) throws -> [UInt8] {
    let lines = try directory.text("key").split(separator: "\n").dropFirst().dropLast()
    let decoded = try #require(Base64.decode(lines.joined()))
    let blob = try #require(
      Base64.decode(String(directory.text("key.pub").split(separator: " ")[1])))
    let point = Array(blob.suffix(type == "ecdsa" ? 65 : 32))
    let range = try #require(decoded.ranges(of: point).last)
    guard type == "ecdsa" else { return Array(decoded[..<range.lowerBound].suffix(32)) }
    return Array(decoded[(range.upperBound + 4)...].drop { $0 == 0 }.prefix(31))
  }

  /// Else the tests above could not fail.
  @Test(.enabled(if: ProcessMemory.isSearchable))
  func whatIsInMemoryIsFound() async throws {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let bytes = (0..<64).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }
      #expect(ProcessMemory.contains(complementOf: bytes.map { ~$0 }))
      withExtendedLifetime(bytes) {}
    }
  }
}
