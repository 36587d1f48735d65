import BridgeSSH
import Testing

struct KnownHostsTests {
  private let host = KnownHostName(host: "Web.Example.org", port: 22)
  private let onPort = KnownHostName(host: "web.example.org", port: 2222)

  private func known(_ text: String, about host: KnownHostName? = nil) -> KnownHosts {
    var known = KnownHosts(about: host ?? self.host)
    known.add(text, from: .file("/k"))
    return known
  }

  /// The lines that a diagnosis names.
  @Test(arguments: [
    ("", []), ("other.example.org ED1", []), ("# one\nweb.example.org ED1", [2]),
    ("web.example.org ECDSA\nweb.example.org ED1\n*.example.org ED1", [2]),
    ("web.example.org ECDSA\nweb.example.org ED2", [2]),
    ("web.example.org ECDSA\nweb.example.org RSA", [1, 2]),
    ("web.example.org ED1\n@revoked * ED1", [2]),
  ])
  func theLinesThatDecideAreNamed(_ text: String, _ lines: [Int]) {
    let finding = known(filled(text)).finding(about: Keys.ed1)
    #expect(finding.lines == lines.map { "/k:\($0)" })
    #expect(finding.keyType == "ED25519" && finding.fingerprint.hasPrefix("SHA256:"))
    #expect(finding.status == known(filled(text)).check(Keys.ed1))
  }

  private func kind(_ status: HostKeyStatus) -> String {
    switch status {
    case .trusted: "trusted"
    case .unknown(_, let doubt): doubt == nil ? "unknown" : "doubtful"
    case .changed: "changed"
    case .newType: "new type"
    case .revoked: "revoked"
    }
  }

  @Test(arguments: [
    ("", "unknown"),
    ("other.example.org ED1", "unknown"),
    ("web.example.org ED2", "changed"),
    ("web.example.org ECDSA", "new type"),
    ("web.example.org RSA\n@revoked web.example.org ED2", "new type"),
    ("web.example.org RSA\nweb.example.org ED2", "changed"),
    ("web.example.org garbage\nweb.example.org RSA", "new type"),
    ("@revoked web.example.org ECDSA", "unknown"),
    ("web.example.org ECDSA\nweb.example.org ED1", "trusted"),
    ("web.example.org ED2\nweb.example.org ED1", "trusted"),
    ("web.example.org ED1", "trusted"),
    ("WEB.example.ORG ED1", "trusted"),
    ("  \tweb.example.org\tED1 comment here\r", "trusted"),
    ("a,web.example.org,b ED1", "trusted"),
    ("*.example.org ED1", "trusted"),
    ("we?.example.org ED1", "trusted"),
    ("* ED1", "trusted"),
    ("*.example.org,!web.example.org ED1", "unknown"),
    ("!web.example.org,*.example.org ED1", "unknown"),
    ("!web.example.org ED1", "unknown"),
    ("*.example.com ED1", "unknown"),
    ("[web.example.org]:22 ED1", "unknown"),
    ("[web.example.org]:2222 ED1", "unknown"),
    ("# web.example.org ED1", "unknown"),
    ("@revoked web.example.org ED1", "revoked"),
    ("web.example.org ED1\n@revoked * ED1", "revoked"),
    ("@revoked * ED1\nweb.example.org ED1", "revoked"),
    ("@revoked web.example.org ED2", "unknown"),
    ("web.example.org ED1\n@revoked web.example.org ED2", "trusted"),
    ("@revoked other.example.org ED1\nweb.example.org ED1", "trusted"),
    ("@cert-authority *.example.org ED1", "unknown"),
    ("@cert-authority *.example.org ED2\nweb.example.org ED1", "trusted"),
    ("web.example.org ssh-ed25519", "doubtful"),
    ("web.example.org ssh-ed25519 !!!!", "doubtful"),
    ("other.example.org ssh-ed25519 !!!!", "unknown"),
    ("|1|short|hash ED1", "doubtful"),
    ("@unheard-of web.example.org ED1", "doubtful"),
    ("web.example.org ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIAEB", "doubtful"),
    ("web.example.org 1024 35 123456789", "doubtful"),
    ("web.example.org garbage\nweb.example.org ED1", "trusted"),
    ("web.example.org garbage\nweb.example.org ED2", "changed"),
  ])
  func statuses(text: String, expected: String) {
    #expect(kind(known(filled(text)).check(Keys.ed1)) == expected)
  }

  @Test(arguments: [
    ("[web.example.org]:2222 ED1", "trusted"),
    ("[web.example.org]:2222 ED2", "changed"),
    ("[web.example.org]:2222 ED2\nweb.example.org ED1", "changed"),
    ("web.example.org ED1\n[web.example.org]:2222 ED2", "changed"),
    ("[web.example.org]:2222 RSA\nweb.example.org ED1", "new type"),
    ("[web.example.org]:* ED2\n*.example.org ED1", "changed"),
    ("* ED1\n[web.example.org]:2222 ED2", "trusted"),
    ("@revoked [web.example.org]:2222 ED2\nweb.example.org ED1", "trusted"),
    ("@revoked [web.example.org]:2222 ED1\nweb.example.org ED1", "revoked"),
    ("[web.example.org]:2222 garbage\nweb.example.org ED1", "trusted"),
    ("[web.example.org]:* ED1", "trusted"),
    ("[*.example.org]:2222 ED1", "trusted"),
    ("[web.example.org]:2223 ED1", "unknown"),
    ("web.example.org ED1", "trusted"),
    ("web.example.org ED2", "unknown"),
    ("web.example.org RSA", "unknown"),
    ("[web.example.org]:2222 RSA", "new type"),
    ("@revoked web.example.org ED1", "revoked"),
  ])
  func statusesOnAnotherPort(text: String, expected: String) {
    #expect(kind(known(filled(text), about: onPort).check(Keys.ed1)) == expected)
  }

  /// A diagnosis names the lines that decided, of the name that decided.
  @Test(arguments: [
    ("web.example.org ED1\n[web.example.org]:2222 ED2", [2]),
    ("web.example.org ED1", [1]), ("web.example.org ED2", []),
    ("web.example.org ED1\n[web.example.org]:2222 RSA", [2]),
  ])
  func theLinesThatDecideOnAnotherPort(_ text: String, _ lines: [Int]) {
    let finding = known(filled(text), about: onPort).finding(about: Keys.ed1)
    #expect(finding.lines == lines.map { "/k:\($0)" })
  }

  @Test func aHashedNameWithItsPortComesBeforeTheOneWithout() {
    let salt = [UInt8](0..<20)
    func line(_ name: String, _ key: [UInt8]) -> String {
      KnownHostsField.hiding(name, salt: salt) + " " + Keys.words(key) + "\n"
    }
    let plain = line("web.example.org", Keys.ed1)
    #expect(known(plain, about: onPort).check(Keys.ed1) == .trusted)
    let both = plain + line("[web.example.org]:2222", Keys.ed2)
    #expect(kind(known(both, about: onPort).check(Keys.ed1)) == "changed")
  }

  @Test func hashedNamesAreFound() {
    let salt = [UInt8](0..<20)
    for name in [host, onPort] {
      let line = KnownHostsField.hiding(name.name, salt: salt) + " " + Keys.words(Keys.ed1)
      #expect(known(line, about: name).check(Keys.ed1) == .trusted)
      #expect(kind(known(line, about: name).check(Keys.ed2)) == "changed")
    }
    let line = KnownHostsField.hiding("other", salt: salt) + " " + Keys.words(Keys.ed1)
    #expect(kind(known(line).check(Keys.ed1)) == "unknown")
  }

  @Test func anAliasIsLookedUpAloneAndWithoutPort() {
    let aliased = KnownHostName(host: "10.0.0.1", port: 2222, alias: "Farm")
    #expect(aliased.name == "farm")
    let text = filled("farm ED1\n10.0.0.1 ED2\n[10.0.0.1]:2222 ED2")
    #expect(known(text, about: aliased).check(Keys.ed1) == .trusted)
  }

  @Test func aChangedKeySaysWhereAndHowToRemoveIt() {
    let status = known(filled("\n# c\nweb.example.org ED2")).check(Keys.ed1)
    guard case .changed(let detail, let removal) = status else {
      return #expect(Bool(false), "\(status)")
    }
    #expect(detail.contains("/k:3") && !detail.contains("ssh-keygen"))
    #expect(removal == "ssh-keygen -f '/k' -R 'web.example.org'")
    #expect(detail.contains(HostKey(blob: Keys.ed1)?.fingerprint ?? "?"))
    #expect(detail.contains(HostKey(blob: Keys.ed2)?.fingerprint ?? "?"))
  }

  @Test func aLineForSeveralHostsIsLeftToAPerson() {
    let status = known(filled("*.example.org ED2")).check(Keys.ed1)
    guard case .changed(let detail, nil) = status else {
      return #expect(Bool(false), "\(status)")
    }
    #expect(detail.contains("/k:1 has") && detail.hasSuffix("edit it by hand."))
  }

  @Test func aNewTypeNamesTheKnownOnes() throws {
    let status = known(filled("web.example.org RSA\n\nweb.example.org ECDSA")).check(Keys.ed1)
    let fingerprint = try #require(HostKey(blob: Keys.ed1)).fingerprint
    #expect(
      status
        == .newType(
          fingerprint: fingerprint,
          detail: "The host shows the ED25519 key \(fingerprint), but is known only by its RSA, "
            + "ECDSA key (/k:1, /k:3)."))
  }

  /// As OpenSSH counts them.
  @Test func theCurvesOfECDSAAreOneType() {
    let other = Keys.blob("ecdsa-sha2-nistp384", 5)
    #expect(kind(known("web.example.org \(Keys.words(other))").check(Keys.ecdsa)) == "changed")
  }

  @Test func skippedLinesThatMayBeAboutTheHostAreNamedOnce() {
    let text = filled(
      "ok ED1\n@cert-authority * ED1\n*.org\n\n* ssh-ed25519 ====\nother ssh-ed25519 ====\nbad")
    #expect(
      known(text).warnings == [
        "/k:2: certificate authorities are not supported; the line was skipped",
        "/k:3: the key is missing; the line was skipped",
        "/k:5: the key is unreadable; the line was skipped",
      ])
  }

  @Test func warningsAreBounded() {
    let warnings = known(String(repeating: "* bad\n", count: 1000)).warnings
    #expect(warnings.count == 101)
    #expect(warnings.last == "900 more known_hosts lines were skipped")
  }

  @Test func severalFilesAreOneKnowledge() {
    var known = KnownHosts(about: host)
    known.add(filled("web.example.org ECDSA"), from: .file("/user"))
    known.add(filled("web.example.org ED1"), from: .file("/system"))
    #expect(known.check(Keys.ed1) == .trusted)
    #expect(known.entries.map(\.location.description) == ["/user:1", "/system:1"])
  }

  @Test(arguments: [
    ("", ["ssh-ed25519", "ecdsa-sha2-nistp256", "x"]),
    ("web.example.org ECDSA", ["ecdsa-sha2-nistp256", "ssh-ed25519", "x"]),
    ("web.example.org RSA", ["ssh-ed25519", "ecdsa-sha2-nistp256", "x"]),
    ("@revoked web.example.org ECDSA", ["ssh-ed25519", "ecdsa-sha2-nistp256", "x"]),
    ("* ECDSA\n* ED1", ["ssh-ed25519", "ecdsa-sha2-nistp256", "x"]),
  ])
  func knownTypesArePreferred(text: String, expected: [String]) {
    let offered = ["ssh-ed25519", "ecdsa-sha2-nistp256", "x"]
    for name in [host, onPort] {
      #expect(known(filled(text), about: name).preferredTypes(offered: offered) == expected)
    }
  }

  @Test func aKeyThatIsNoneIsNeverTrusted() {
    for blob in [[], [0, 0, 0, 0], [255, 255, 255, 255], Array(Keys.ed1.prefix(15))] {
      #expect(kind(known(filled("* ED1")).check(blob)) == "changed")
    }
  }

  @Test func manyStarsTakeNoTime() {
    let pattern = HostPattern(String(repeating: "*a", count: 2000) + "b")
    #expect(!pattern.fits(String(repeating: "a", count: 255)))
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedFilesNeverCrashAndNeverTrustAnotherKey(seed: UInt64) {
    let salt = [UInt8](0..<20)
    let text = filled(
      "*.example.org,!x ED2\n@revoked * ECDSA\n[web.example.org]:2222 ED2\n"
        + KnownHostsField.hiding("web.example.org", salt: salt) + " ED2")
    for bytes in Mutation.of(Array(text.utf8), count: 2000, seed: seed) {
      let known = known(String(decoding: bytes, as: UTF8.self))
      #expect(known.check(Keys.ed1) != .trusted, "seed \(seed)")
      #expect(known.warnings.allSatisfy { $0.utf8.count < 1500 })
    }
  }
}

/// `text` with ED1, ED2, ECDSA and RSA replaced by type and key.
func filled(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    line.split(separator: " ", omittingEmptySubsequences: false).map { word in
      word.split(separator: "\t", omittingEmptySubsequences: false).map { part in
        switch part {
        case "ED1": Keys.words(Keys.ed1)
        case "ED2": Keys.words(Keys.ed2)
        case "ECDSA": Keys.words(Keys.ecdsa)
        case "RSA": Keys.words(Keys.rsa)
        default: String(part)
        }
      }.joined(separator: "\t")
    }.joined(separator: " ")
  }.joined(separator: "\n")
}
