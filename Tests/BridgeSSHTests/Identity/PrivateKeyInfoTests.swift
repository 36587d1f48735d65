import BridgeSSH
import Foundation
import Testing

struct PrivateKeyInfoTests {
  private let old = LibraryVersion(1, 10, 0)
  private let new = LibraryVersion(1, 11, 0)

  private func armored(_ label: String, _ body: [UInt8], headers: String = "") -> [UInt8] {
    Array(
      "-----BEGIN \(label)-----\n\(headers)\(Base64.encode(body))\n-----END \(label)-----\n".utf8)
  }

  private func container(
    type: String = "ssh-ed25519", cipher: String = "none", rounds: UInt32 = 16,
    checks: (UInt32, UInt32) = (5, 5)
  ) -> [UInt8] {
    var options = WireWriter()
    if cipher != "none" {
      options.string([UInt8](repeating: 1, count: 16))
      options.uint32(rounds)
    }
    var secret = WireWriter()
    secret.uint32(checks.0)
    secret.uint32(checks.1)
    secret.string(type)
    var writer = WireWriter()
    for byte in Array("openssh-key-v1\0".utf8) { writer.byte(byte) }
    writer.string(cipher)
    writer.string(cipher == "none" ? "none" : "bcrypt")
    writer.string(options.bytes)
    writer.uint32(1)
    writer.string(Keys.blob(type, 9))
    writer.string(secret.bytes)
    return armored("OPENSSH PRIVATE KEY", writer.bytes)
  }

  private func problem(_ bytes: [UInt8]) -> KeyFileProblem? {
    do throws(KeyFileProblem) {
      _ = try PrivateKeyInfo(bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func whatIsNoKeySaysWhatItIs() {
    let cases: [(String, KeyFileProblem)] = [
      ("", .empty), (" \n\r\n", .empty), ("garbage", .notAKey), ("\u{0}\u{1}", .notAKey),
      ("ssh-ed25519 AAAA ann", .publicKey), ("ecdsa-sha2-nistp256 AAAA", .publicKey),
      ("sk-ssh-ed25519@openssh.com AAAA", .publicKey),
      ("---- BEGIN SSH2 PUBLIC KEY ----\nAAAA", .publicKey),
      ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", .publicKey),
      ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .notAKey),
      ("PuTTY-User-Key-File-3: ssh-ed25519\n", .putty),
      ("SSH PRIVATE KEY FILE FORMAT 1.1\n", .ssh1),
      ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", .damaged),
      ("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", .damaged),
      ("-----BEGIN OPENSSH PRIVATE KEY-----\n!\n-----END OPENSSH PRIVATE KEY-----", .damaged),
      ("-----BEGIN RSA PRIVATE KEY-----\n-----END RSA PRIVATE KEY-----", .damaged),
      ("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", .damaged),
      ("-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----", .damaged),
      (String(repeating: "x", count: PrivateKeyInfo.limit + 1), .tooLarge),
    ]
    for (text, expected) in cases {
      #expect(problem(Array(text.utf8)) == expected, "\(text.prefix(60))")
    }
    for problem in KeyFileProblem.allCases {
      #expect(problem.reason.hasSuffix(".") || problem == .putty)
    }
  }

  @Test func aContainerIsReadWithoutItsPassphrase() throws {
    let plain = try PrivateKeyInfo(container())
    #expect(plain.kind == .ed25519)
    #expect(!plain.isEncrypted)
    #expect(plain.publicBlob == Keys.blob("ssh-ed25519", 9))
    let secret = try PrivateKeyInfo(container(cipher: "aes256-ctr", rounds: 24))
    #expect(secret.isEncrypted)
    #expect(secret.rounds == 24)
    #expect(problem(container(checks: (1, 2))) == .damaged)
  }

  @Test(arguments: [
    ("ssh-ed25519", PrivateKeyInfo.Kind.ed25519), ("ecdsa-sha2-nistp384", .ecdsa),
    ("ssh-rsa", .rsa), ("ssh-dss", .dsa), ("sk-ssh-ed25519@openssh.com", .securityKey),
    ("ssh-mldsa", .other("ssh-mldsa")),
  ])
  func theTypeIsThatOfThePublicPart(type: String, kind: PrivateKeyInfo.Kind) throws {
    #expect(try PrivateKeyInfo(container(type: type)).kind == kind)
  }

  @Test func refusalsNameTypeAndLibrary() throws {
    func refusal(_ type: String, _ library: LibraryVersion) throws -> String? {
      try PrivateKeyInfo(container(type: type)).refusal(library: library, hasPassphrase: false)
    }
    #expect(try refusal("ssh-ed25519", old) == nil)
    #expect(try refusal("ecdsa-sha2-nistp256", old) == nil)
    #expect(try refusal("ssh-rsa", new) == nil)
    #expect(try refusal("ssh-rsa", old) == nil)
    #expect(try refusal("ssh-dss", new)?.contains("DSA") == true)
    #expect(try refusal("sk-ssh-ed25519@openssh.com", new)?.contains("security key") == true)
    #expect(try refusal("ssh-mldsa", new)?.contains("ssh-mldsa") == true)
  }

  @Test func anEncryptedKeyNeedsAPassphraseAndTime() throws {
    let key = try PrivateKeyInfo(container(cipher: "aes256-ctr"))
    #expect(
      key.refusal(library: old, hasPassphrase: false)
        == "The ed25519 key is encrypted, and no passphrase was given.")
    #expect(key.refusal(library: old, hasPassphrase: true) == nil)
    let slow = try PrivateKeyInfo(container(cipher: "aes256-ctr", rounds: .max))
    #expect(slow.refusal(library: old, hasPassphrase: true)?.contains("4294967295 times") == true)
  }

  /// `ssh-keygen -Z`: its passphrase is not asked for.
  @Test(arguments: ["aes128-gcm", "aes256-gcm", "chacha20-poly1305"])
  func aCipherThatTheLibraryDoesNotKnowIsNamed(cipher: String) throws {
    let key = try PrivateKeyInfo(container(cipher: "\(cipher)@openssh.com"))
    #expect(
      key.refusal(library: new, hasPassphrase: true)?.hasPrefix(
        "The ed25519 key is encrypted with \(cipher)@openssh.com, which libssh2 cannot decrypt")
        == true)
  }

  @Test func traditionalEncryptionStandsInTheHeaders() throws {
    let headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"
    let key = try PrivateKeyInfo(armored("EC PRIVATE KEY", [1, 2, 3], headers: headers))
    #expect(key == (try PrivateKeyInfo(armored("EC PRIVATE KEY", [9, 9, 9], headers: headers))))
    #expect(key.isEncrypted)
    #expect(key.kind == .ecdsa)
  }

  @Test func parametersBeforeTheKeyArePassedOver() throws {
    let parameters = armored("EC PARAMETERS", [6, 1, 1])
    let key = try PrivateKeyInfo(parameters + armored("EC PRIVATE KEY", [0x30, 1, 0]))
    #expect(key.kind == .ecdsa)
  }

  @Test(
    .enabled(if: KeyGen.isInstalled),
    arguments: [
      ("ed25519", "", PrivateKeyInfo.Kind.ed25519, "RFC4716"), ("ecdsa", "", .ecdsa, "RFC4716"),
      ("rsa", "", .rsa, "RFC4716"), ("ecdsa", "", .ecdsa, "PEM"), ("rsa", "", .rsa, "PEM"),
      ("ecdsa", "", .ecdsa, "PKCS8"), ("rsa", "", .rsa, "PKCS8"),
      ("ed25519", "secret", .ed25519, "RFC4716"), ("ecdsa", "secret", .ecdsa, "PEM"),
      ("rsa", "secret", .rsa, "PEM"), ("rsa", "secret", .hidden, "PKCS8"),
    ])
  func keysOfOpenSSHAreRecognised(
    type: String, passphrase: String, kind: PrivateKeyInfo.Kind, format: String
  ) throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("key")
    try KeyGen.run("-q", "-t", type, "-m", format, "-N", passphrase, "-a", "4", "-f", path)
    let info = try PrivateKeyInfo([UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    #expect(info.kind == kind)
    #expect(info.isEncrypted == !passphrase.isEmpty)
    if info.format == .openSSH {
      let words = try directory.text("key.pub").split(separator: " ")
      #expect(info.publicBlob == Base64.decode(words[1]))
      #expect(info.rounds == (passphrase.isEmpty ? 0 : 4))
    }
    #expect(
      problem([UInt8](try Data(contentsOf: URL(fileURLWithPath: path + ".pub")))) == .publicKey)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedFilesNeverCrash(seed: UInt64) {
    let originals = [
      container(), container(cipher: "aes256-ctr"),
      armored("PRIVATE KEY", [0x30, 9, 2, 1, 0, 0x30, 2, 6, 0, 4, 0]),
    ]
    for (index, original) in originals.enumerated() {
      for bytes in Mutation.of(original, count: 600, seed: seed &+ UInt64(index)) {
        let info = try? PrivateKeyInfo(bytes)
        #expect((info?.publicBlob?.count ?? 0) <= bytes.count, "seed \(seed)")
      }
    }
  }
}
