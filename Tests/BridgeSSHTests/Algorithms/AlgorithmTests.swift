import BridgeErrors
import BridgeSSH
import Testing

struct AlgorithmTests {
  private let old = LibraryVersion(1, 10, 0)
  private let new = LibraryVersion(1, 11, 1)

  /// A KEXINIT payload with OpenSSH-like lists, where `changes` does not say otherwise.
  private func payload(_ changes: [AlgorithmKind: String] = [:]) -> [UInt8] {
    var writer = WireWriter()
    writer.byte(KexInit.message)
    for number in 0..<16 { writer.byte(UInt8(number)) }
    for kind in AlgorithmKind.allCases {
      let usual =
        switch kind {
        case .keyExchange: "curve25519-sha256,ext-info-s,kex-strict-s-v00@openssh.com"
        case .hostKey: "rsa-sha2-512,ssh-ed25519"
        case .cipherToServer, .cipherToClient: "chacha20-poly1305@openssh.com,aes128-ctr"
        case .macToServer, .macToClient: "hmac-sha2-256"
        case .compressionToServer, .compressionToClient: "none,zlib@openssh.com"
        }
      writer.string(changes[kind] ?? usual)
    }
    writer.string("")
    writer.string("")
    writer.byte(0)
    writer.uint32(0)
    return writer.bytes
  }

  private func packet(_ payload: [UInt8]) -> [UInt8] {
    var writer = WireWriter()
    writer.string([6] + payload + [UInt8](repeating: 0, count: 6))
    return writer.bytes
  }

  private func mismatches(
    _ changes: [AlgorithmKind: String], library: LibraryVersion
  ) throws -> [AlgorithmMismatch] {
    let theirs = try #require(KexInit(payload: payload(changes)))
    return AlgorithmMismatch.find(
      ours: AlgorithmOffer(library: library), theirs: theirs, library: library)
  }

  @Test func nothingWeakIsOffered() {
    let weak = [
      "dss", "group1-", "sha1", "arcfour", "3des", "cbc", "md5", "zlib", "ripemd", "etm", "gcm",
      "chacha",
    ]
    for library in [old, new] {
      let offer = AlgorithmOffer(library: library)
      for kind in AlgorithmKind.allCases {
        #expect(!offer[kind].isEmpty)
        for name in offer[kind] {
          #expect(!weak.contains { name.contains($0) }, "\(name)")
          #expect(name != "ssh-rsa")
        }
      }
    }
    #expect(AlgorithmOffer(library: old).preference(.compressionToClient) == "none")
    #expect(!AlgorithmOffer(library: old).preference(.hostKey).contains("rsa"))
    #expect(AlgorithmOffer(library: new).preference(.hostKey).contains("rsa-sha2-512"))
  }

  @Test func theKindsHaveTheLibrarysNumbers() {
    #expect(AlgorithmKind.allCases.map(\.rawValue) == Array(0...7))
    #expect(AlgorithmKind.hostKey.rawValue == 1)
    #expect(AlgorithmKind.cipherToServer.rawValue == 2)
    #expect(AlgorithmKind.macToClient.rawValue == 5)
  }

  @Test func aWeakOneIsOfferedOnlyByName() throws {
    let offer = AlgorithmOffer(library: old)
    let asked = try offer.asking(for: ["3des-cbc", "aes256-ctr"], of: .cipherToServer)
    #expect(asked.preference(.cipherToServer) == "3des-cbc,aes256-ctr")
    #expect(asked[.cipherToClient] == offer[.cipherToClient])
    for names in [[], ["chacha20"], ["aes128-ctr", "x\u{1b}"], ["hmac-md5"]] {
      #expect(throws: AppError.self, "\(names)") {
        try offer.asking(for: names, of: .cipherToServer)
      }
    }
  }

  @Test func knownHostKeyTypesComeFirst() {
    let offer = AlgorithmOffer(library: old)
    let types = ["ecdsa-sha2-nistp521", "ssh-rsa", "ssh-ed25519"]
    #expect(
      offer.preferring(hostKeys: types)[.hostKey] == [
        "ecdsa-sha2-nistp521", "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384",
      ])
  }

  @Test func whatIsCommonIsNoMismatch() throws {
    #expect(try mismatches([:], library: old).isEmpty)
    #expect(try mismatches([:], library: new).isEmpty)
  }

  @Test(arguments: AlgorithmKind.allCases)
  func eachKindIsNamedWithBothLists(kind: AlgorithmKind) throws {
    let found = try mismatches([kind: "x-\u{1b}one,two"], library: old)
    #expect(found.map(\.kind) == [kind])
    let detail = try #require(found.first?.detail)
    #expect(detail.hasPrefix("No common \(kind.words): we offer "))
    #expect(detail.contains(AlgorithmOffer(library: old)[kind].joined(separator: ", ")))
    #expect(detail.contains("the server offers x-\\x1bone, two. "))
    #expect(detail.hasSuffix("libssh2 has none of these: the server must allow one of ours."))
  }

  /// Of a server that follows a guide to hardening, an old one, and one from elsewhere.
  @Test func theSideThatLacksSomethingIsNamed() throws {
    let hardened = "hmac-sha2-256-etm@openssh.com,umac-128-etm@openssh.com"
    let lacking = try #require(mismatches([.macToServer: hardened], library: old).first?.detail)
    #expect(
      lacking.hasSuffix(
        " It is this side that lacks hmac-sha2-256-etm@openssh.com: libssh2 1.11.1 has it, and"
          + " this is \(old)."))
    let asked = try #require(mismatches([.macToServer: hardened], library: new).first?.detail)
    #expect(
      asked.hasSuffix(
        " This side has hmac-sha2-256-etm@openssh.com too, and offers it on request."))
    let weak = try mismatches([.keyExchange: "diffie-hellman-group1-sha1"], library: old)
    #expect(weak.first?.detail.hasSuffix("sha1 too, and offers it on request.") == true)
  }

  @Test func listsInADetailAreBounded() throws {
    let many = (0..<500).map { "name\($0)-" + String(repeating: "x", count: 100) }
    let tooLarge = payload([.cipherToServer: many.joined(separator: ",")])
    #expect(KexInit(payload: tooLarge) == nil)
    let none = try mismatches([.hostKey: ""], library: old)
    #expect(none.first?.detail.contains("the server offers nothing.") == true)
    let fitting = try mismatches(
      [.cipherToServer: many.prefix(200).joined(separator: ",")], library: old)
    let detail = try #require(fitting.first?.detail)
    #expect(detail.contains(" and 176 more."))
    #expect(detail.utf8.count < 2048)
  }

  @Test(arguments: [
    "ssh-rsa", "rsa-sha2-512,rsa-sha2-256", "rsa-sha2-512-cert-v01@openssh.com,ssh-rsa",
  ])
  func rsaOnlyHostsAreNamedWithTheLibrary(list: String) throws {
    let found = try mismatches([.hostKey: list], library: old)
    let detail = try #require(found.first?.detail)
    #expect(detail.contains("only RSA host keys"))
    #expect(detail.contains("libssh2 1.10.0"))
    #expect(detail.contains(list.split(separator: ",")[0]))
  }

  @Test func aNewerLibraryTakesRSAWithSHA2() throws {
    #expect(try mismatches([.hostKey: "rsa-sha2-512"], library: new).isEmpty)
    let found = try mismatches([.hostKey: "ssh-rsa"], library: new)
    #expect(found.first?.detail.hasPrefix("No common host key type") == true)
  }

  @Test(arguments: [
    ("1.10.0", LibraryVersion(1, 10, 0)), ("1.11.1_DEV", LibraryVersion(1, 11, 1)),
    ("2.0", nil), ("", nil), ("a.b.c", nil),
  ])
  func versionsAreRead(text: String, version: LibraryVersion?) {
    #expect(LibraryVersion(text) == version)
  }

  @Test(arguments: [
    (0x010a00, "1.10.0"), (0x010a00, "1.10.7"), (0x010b01, "1.11.0"), (0x010b01, "1.11.1_DEV"),
    (0x010b01, "1.11.1-2+deb13u2"), (0x020000, "2.0.9"),
  ])
  func aLibraryOfTheSameMinorVersionIsUsed(built: Int, running: String) {
    #expect(LibraryVersion.refusal(built: built, running: running) == nil)
  }

  @Test(
    arguments: [
      (0x010a00, "1.11.1", "libssh2 1.11.1 (", "1.10.0", "1.10)"),
      (0x010b01, "1.10.0", "libssh2 1.10.0 (", "1.11.1", "1.11)"),
      (0x010b01, "1.12.0_DEV", "libssh2 1.12.0_DEV (", "1.11.1", "1.11)"),
      (0x010a00, "2.10.0", "libssh2 2.10.0 (", "1.10.0", "1.10)"),
      (0x010a00, "0.10.0", "libssh2 0.10.0 (", "1.10.0", "1.10)"),
      (0x010a00, "1.100.0", "libssh2 1.100.0 (", "1.10.0", "1.10)"),
      (0x010a00, "1.10", "libssh2 1.10 (", "1.10.0", "1.10)"),
      (0x010a00, "unknown\u{1b}", "libssh2 unknown\\x1b (", "1.10.0", "1.10)"),
      (0x010a00, "", "libssh2 of an unknown version (", "1.10.0", "1.10)"),
      (0x010a00, nil, "libssh2 of an unknown version (", "1.10.0", "1.10)"),
    ] as [(Int, String?, String, String, String)])
  func anotherMinorVersionIsRefused(
    built: Int, running: String?, found: String, headers: String, series: String
  ) throws {
    let error = try #require(LibraryVersion.refusal(built: built, running: running))
    #expect(
      error
        == .featureUnavailable(
          feature:
            "SSH with \(found)this program was built with libssh2 \(headers): build it again "
            + "on this machine, or install libssh2 \(series)"))
    #expect(error.exitCode(in: nil) == .configuration)
  }

  @Test func theLibraryOfThisRunIsUsed() { #expect(SSHLibraries.refusal == nil) }

  @Test func theListsAreFoundInATranscript() throws {
    let lists = try #require(KexInit(payload: payload()))
    let ignore = packet([2, 0, 0, 0, 0])
    let debug = packet([4, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    let whole = Array("Hello\nSSH-2.0-x\r\n".utf8) + ignore + debug + packet(payload())
    for cut in 0..<whole.count {
      #expect(ServerTranscript(Array(whole[..<cut])) == .needMore, "cut at \(cut)")
    }
    #expect(ServerTranscript(whole) == .kexInit(lists))
    #expect(ServerTranscript(whole + [1, 2, 3]) == .kexInit(lists))
  }

  @Test func aDisconnectInPlaceOfTheListsIsRead() {
    var writer = WireWriter()
    writer.byte(1)
    writer.uint32(12)
    writer.string("Too many connections\u{7}")
    writer.string("")
    let bytes = Array("SSH-2.0-x\n".utf8) + packet(writer.bytes)
    let expected = ServerTranscript.disconnected(reason: 12, text: "Too many connections\\x07")
    #expect(ServerTranscript(bytes) == expected)
  }

  @Test(arguments: [
    [0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 136, 185], [0, 0, 0, 6, 5, 20, 0, 0, 0, 0],
    [0, 0, 0, 6, 4, 99, 0, 0, 0, 0], [0, 0, 0, 6, 4, 20, 0, 0, 0, 0],
  ])
  func hostilePacketsAreMalformed(packet: [UInt8]) {
    #expect(ServerTranscript(Array("SSH-2.0-x\n".utf8) + packet) == .malformed)
  }

  @Test func endlessIgnorePacketsEnd() {
    let bytes =
      Array("SSH-2.0-x\n".utf8)
      + Array(repeatElement(packet([2, 0, 0, 0, 0]), count: 20).joined())
    #expect(ServerTranscript(bytes) == .malformed)
    #expect(ServerTranscript(Array("220 mail\0".utf8)) == .malformed)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedPacketsNeverCrash(seed: UInt64) {
    let whole = Array("SSH-2.0-x\r\n".utf8) + packet(payload())
    let offer = AlgorithmOffer(library: old)
    for bytes in Mutation.of(whole, count: 1000, seed: seed) {
      guard case .kexInit(let lists) = ServerTranscript(bytes) else { continue }
      for mismatch in AlgorithmMismatch.find(ours: offer, theirs: lists, library: old) {
        #expect(mismatch.detail.utf8.count < 2048, "seed \(seed)")
        #expect(mismatch.detail.utf8.allSatisfy { $0 >= 32 }, "seed \(seed)")
      }
    }
  }
}
