import BridgeErrors
import BridgeSSH
import Foundation
import Testing

struct KnownHostsFileTests {
  private let host = KnownHostName(host: "web", port: 22)

  private func append(_ host: KnownHostName, blob: [UInt8], to path: String) throws {
    var generator = SplitMix64(seed: 7)
    try KnownHostsFile.append(host, blob: blob, to: path, using: &generator)
  }

  @Test func oneUnreadableFileEndsTheLoad() throws {
    let directory = try TemporaryDirectory()
    let good = try directory.write(filled("web ED1\n"), to: "good")
    #expect(throws: AppError.fileReadError(path: directory.path, reason: "Is a directory")) {
      try KnownHostsFile.load([good, directory.path], about: host)
    }
  }

  @Test func missingFilesSayNothing() throws {
    let directory = try TemporaryDirectory()
    let good = try directory.write(filled("web ED1\n"), to: "good")
    let known = try KnownHostsFile.load(
      [directory.file("none"), good, "/dev/null"], about: host)
    #expect(known.check(Keys.ed1) == .trusted)
    #expect(known.warnings.isEmpty)
  }

  @Test func whatIsAppendedIsTrusted() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("ssh/known_hosts")
    for port in [22, 2222] {
      let host = KnownHostName(host: "Web", port: port)
      try append(host, blob: Keys.ed1, to: path)
      let known = try KnownHostsFile.load([path], about: host)
      #expect(known.check(Keys.ed1) == .trusted)
    }
    #expect(try directory.text("ssh/known_hosts") == filled("web ED1\n[web]:2222 ED1\n"))
    #expect(try directory.mode("ssh/known_hosts") == 0o600)
  }

  @Test func theRestOfTheFileStays() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(filled("# mine\nbroken\nother ED2"), to: "k", mode: 0o644)
    try append(host, blob: Keys.ed1, to: path)
    try append(host, blob: Keys.ed1, to: path)
    #expect(try directory.text("k") == filled("# mine\nbroken\nother ED2\nweb ED1\n"))
    #expect(try directory.mode("k") == 0o644)
  }

  @Test func otherKeysOfAHostAreRemoved() throws {
    let directory = try TemporaryDirectory()
    let hidden = KnownHostsField.hiding("web", salt: [UInt8](0..<20))
    let stays = [
      "# web", "", "other ED2\r", "@revoked web ED2", "[web]:2222 ED2", "web ED1", "web broken",
    ]
    let lines = stays[..<3] + ["web ED2", "WEB ECDSA", "\(hidden) ED2"] + stays[3...]
    // A byte that is no UTF-8, and no newline at the end.
    let bytes = Array(filled(lines.joined(separator: "\n")).utf8) + [10, 0xFF]
    let path = directory.file("k")
    try Data(bytes).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try KnownHostsFile.removeKeys(of: host, but: Keys.ed1, from: path)
    let left = Array(filled(stays.joined(separator: "\n")).utf8) + [10, 0xFF]
    #expect(try Data(contentsOf: URL(filePath: path)) == Data(left))
    #expect(try directory.mode("k") == 0o644)
  }

  @Test func aLineForOtherHostsStaysAndIsNamed() throws {
    let directory = try TemporaryDirectory()
    for name in ["web,other", "w*"] {
      let path = try directory.write(filled("web ED2\n\(name) ED2\n"), to: "k")
      let problem = AppError.fileWriteError(
        path: path, reason: "Line 2 is for other hosts, too, and still has the old key.")
      #expect(throws: problem) {
        try KnownHostsFile.removeKeys(of: host, but: Keys.ed1, from: path)
      }
      #expect(try directory.text("k") == filled("\(name) ED2\n"))
    }
  }

  @Test func whereThereIsNoOtherKeyNothingIsWritten() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(filled("web ED1\n"), to: "k")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1000)], ofItemAtPath: path)
    for path in [path, directory.file("none"), "/dev/null"] {
      try KnownHostsFile.removeKeys(of: host, but: Keys.ed1, from: path)
    }
    let date = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
    #expect(date == Date(timeIntervalSince1970: 1000))
    #expect(!FileManager.default.fileExists(atPath: directory.file("none")))
  }

  @Test func namesAreHiddenWhereTheFileHidesThem() throws {
    let directory = try TemporaryDirectory()
    let hidden = KnownHostsField.hiding("other", salt: [UInt8](0..<20))
    let path = try directory.write("\(hidden) \(Keys.words(Keys.ed2))\n", to: "k")
    try append(host, blob: Keys.ed1, to: path)
    let text = try directory.text("k")
    #expect(!text.contains("web"))
    #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("|1|") })
    let known = try KnownHostsFile.load([path], about: host)
    #expect(known.check(Keys.ed1) == .trusted)
  }

  @Test func namesAreHiddenWhereTheUserWantsIt() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(filled("other ED2\n"), to: "k")
    var generator = SplitMix64(seed: 7)
    try KnownHostsFile.append(
      host, blob: Keys.ed1, to: path, hidesName: true, using: &generator)
    let lines = try directory.text("k").split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasPrefix("other ") && lines[1].hasPrefix("|1|"))
    #expect(try KnownHostsFile.load([path], about: host).check(Keys.ed1) == .trusted)
  }

  /// HashKnownHosts=no, also where the file hides others.
  @Test func namesAreShownWhereTheUserWantsIt() throws {
    let directory = try TemporaryDirectory()
    let hidden = KnownHostsField.hiding("other", salt: [UInt8](0..<20))
    let path = try directory.write("\(hidden) \(Keys.words(Keys.ed2))\n", to: "k")
    var generator = SplitMix64(seed: 7)
    try KnownHostsFile.append(
      host, blob: Keys.ed1, to: path, hidesName: false, using: &generator)
    #expect(try directory.text("k").split(separator: "\n").last?.hasPrefix("web ") == true)
  }

  @Test(arguments: ["", "a b", "a\nb", "a,b", "*", "#a", "|1|a", "@revoked", "a\u{0}b"])
  func aNameThatWouldSayMoreIsRefused(name: String) throws {
    let directory = try TemporaryDirectory()
    #expect(throws: AppError.self) {
      try append(KnownHostName(host: name, port: 22), blob: Keys.ed1, to: directory.file("k"))
    }
    #expect(LocalFile.names(in: directory.path).isEmpty)
  }

  @Test func aKeyThatIsNoneIsRefused() throws {
    let directory = try TemporaryDirectory()
    #expect(throws: AppError.self) {
      try append(host, blob: [1, 2, 3], to: directory.file("k"))
    }
  }

  @Test(.enabled(if: KeyGen.isInstalled), arguments: ["ed25519", "ecdsa", "rsa"])
  func opensshAgreesOnFormatHashAndFingerprint(type: String) throws {
    let directory = try TemporaryDirectory()
    try KeyGen.run("-q", "-t", type, "-N", "", "-f", directory.file("key"))
    let words = try directory.text("key.pub").split(separator: " ")
    let blob = try #require(Base64.decode(words[1]))
    let key = try #require(HostKey(blob: blob))
    let listed = try KeyGen.run("-l", "-f", directory.file("key.pub"))
    #expect(listed.contains(" \(key.fingerprint) "))
    #expect(listed.contains("(\(key.typeName))"))

    let path = try directory.write("Web,[web]:2222 \(words[0]) \(words[1])\n", to: "k")
    try KeyGen.run("-H", "-f", path)
    #expect(try directory.text("k").hasPrefix("|1|"))
    for port in [22, 2222] {
      let name = KnownHostName(host: "WEB", port: port)
      #expect(try KnownHostsFile.load([path], about: name).check(blob) == .trusted)
    }
    let added = KnownHostName(host: "added", port: 22)
    try append(added, blob: blob, to: path)
    #expect(try KeyGen.run("-F", "added", "-f", path).contains("found: line 3"))

    // What ssh-keygen and ssh hash is in lower case, an alias too.
    let alias = KnownHostName(host: "10.0.0.1", port: 2222, alias: "wEB")
    #expect(try KnownHostsFile.load([path], about: alias).check(blob) == .trusted)
    let other = Keys.blob(key.type, 9)
    guard
      case .changed(_, let removal) = try KnownHostsFile.load([path], about: added).check(other)
    else {
      return #expect(Bool(false), "an other key was not refused")
    }
    #expect(removal == "ssh-keygen -f '\(path)' -R 'added'")
    try KeyGen.run("-f", path, "-R", "added")
    let after = try KnownHostsFile.load([path], about: added).check(blob)
    #expect(after == .unknown(fingerprint: key.fingerprint, doubt: nil))
  }
}
