import BridgeErrors
import BridgeSSH
import BridgeWaiting
import Foundation
import Testing

/// ssh_config in real files, with `ssh -G` as the second opinion.
struct LocalConfigTests {
  @Test(arguments: [0o666, 0o602, 0o620, 0o664])
  func aFileThatOthersMayWriteIsRefusedUnlessNamed(mode: Int) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("Port 2200", to: "config", mode: mode)
    let query = ClientConfig.Query(host: "web", home: directory.path, localUser: "ann")
    let reason = "Bad owner or permissions: others could have written it (chmod go-w)."
    #expect(throws: AppError.fileReadError(path: path, reason: reason)) {
      try ClientConfig.resolve(query, sources: [.user(path)], files: .local)
    }
    let config = try ClientConfig.resolve(query, sources: [.named(path)], files: .local)
    #expect(config.port == 2200)
    let around = try directory.write("Include \(path)", to: "around")
    #expect(throws: AppError.fileReadError(path: path, reason: reason)) {
      try ClientConfig.resolve(query, sources: [.named(around)], files: .local)
    }
  }

  @Test(arguments: [0o600, 0o644, 0o444])
  func aFileThatOthersMayOnlyReadIsFine(mode: Int) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("Port 2200", to: "config", mode: mode)
    let query = ClientConfig.Query(host: "web", home: directory.path, localUser: "ann")
    let config = try ClientConfig.resolve(query, sources: [.user(path)], files: .local)
    #expect(config.port == 2200)
  }

  @Test func aUsersHomeIsThatOfThePasswordFile() {
    #expect(ClientConfig.Files.local.home("root") == "/root")
    #expect(ClientConfig.Files.local.home("no such user") == nil)
    #expect(ClientConfig.Files.local.home("root\u{0}") == nil)
  }

  @Test func includesReachRealDirectories() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file(".ssh/d"), withIntermediateDirectories: true)
    try directory.write("User one", to: ".ssh/d/1.conf")
    try directory.write("User two\nPort 2200", to: ".ssh/d/2.conf")
    let path = try directory.write("Include d/*.conf", to: ".ssh/config")
    let query = ClientConfig.Query(host: "web", home: directory.path, localUser: "ann")
    let config = try ClientConfig.resolve(query, sources: [.user(path)], files: .local)
    #expect(config.user == "one")
    #expect(config.port == 2200)
  }

  private static let ssh = "/usr/bin/ssh"

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: ssh)),
    arguments: [
      "Host web\nPort 2200\nUser bob\nHost *\nPort 1\nUser x",
      "Host * !web\nPort 1\nUser nobody\nHost w?b\nPort=2200",
      "HostName \"%h.example.org\"\nUser 'a b'\nConnectTimeout 1m",
      "Host other\nUser x\nHost \"web\"\nUser = y # z\nPort 5\nServerAliveInterval 2m1s",
      "Host !web *\nUser x\nHost !other\nUser y\nHost web*\nUser DOM\\bob",
      "StrictHostKeyChecking accept-new\nServerAliveCountMax 7\nServerAliveCountMax 8",
      "Match all\nPort 2200\nMatch host web,!w*\nUser x\nMatch !host other\nUser y",
      "Host web\nHostName Real.Example\nMatch host real.example originalhost WEB\nPort 2200",
      "Match host=we? # why\nPort 2200\nMatch canonical all\nUser x\nMatch !final all\nUser y",
      "Host web\nHostName real\nMatch final host real\nPort 5\nHost real\nUser bob\nPort 6",
      "User bob\nMatch user b* host web\nPort 2200\nMatch !user bob\nServerAliveCountMax 8",
      "Match exec true\nPort 2200\nMatch exec false\nUser x\nMatch !exec false\nUser y",
      "Match !exec true\nPort 5\nMatch exec \"exit 3\"\nPort 6\nMatch exec=true host web\nPort 7",
      "HostName Real\nMatch exec \"test %h = Real\"\nPort 8\nMatch exec \"test %h = real\"\nPort 9",
      "User bob\nPort 3\nMatch exec \"test %r-%n-%p = bob-web-3\"\nServerAliveCountMax 8",
      "Match exec \"A=1 sh -c 'test $A = 1'\"\nPort 8\nMatch exec \"read x\"\nUser x",
      "HostKeyAlias k\nMatch exec \"test %k%% = k%%\"\nPort 4",
      "Match host other exec \"exit 1\"\nUser x\nMatch !host other exec \"exit 0\"\nPort 4",
      "Match final exec true\nPort 11\nMatch !final exec true\nUser x",
      "Match host other exec false\nPort 5\nMatch !all\nPort 6\nMatch originalhost web all\nPort 7",
    ])
  func opensshReadsTheSame(text: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write(text + "\n", to: "config")
    let query = ClientConfig.Query(host: "web", home: directory.path, localUser: "ann")
    let ours = try ClientConfig.resolve(query, sources: [.named(path)], files: .local)
    let theirs = try settings(path)
    #expect(theirs["hostname"] == ours.hostName.lowercased())
    #expect(theirs["port"] == String(ours.port))
    if ours.user != "ann" { #expect(theirs["user"] == ours.user) }
    if let timeout = ours.connectTimeout {
      #expect(theirs["connecttimeout"] == String(timeout.components.seconds))
    }
    if let interval = ours.serverAliveInterval {
      #expect(theirs["serveraliveinterval"] == String(interval.components.seconds))
    }
    if let count = ours.serverAliveCountMax {
      #expect(theirs["serveralivecountmax"] == String(count))
    }
    if let checking = ours.hostKeyChecking {
      #expect(theirs["stricthostkeychecking"] == checking.rawValue)
    }
  }

  /// Names that a pattern stands for in one directory, as `ssh` finds them.
  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: ssh)),
    arguments: [
      "x*", "x?", "x[ab]", "x[!ab]", "x[^ab]", "x[a-c]", "x[c-a]", "x[]]", "x[]a]", "x[!]]", "x[a",
      "x[!]", "x[]", "x[-a]", "x[a-]", "x[[:digit:]]", "x[[:alpha:]b-]", "x[[:none:]]", "x\\\\a",
      "x\\\\*", "x[\\\\a]", "[x][a]", "*a", "?", "[.]*", "x[a-c1-2]", "xa", "none",
    ])
  func opensshFindsTheSameFiles(pattern: String) throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: directory.file("d"), withIntermediateDirectories: true)
    let names = ["a", "b", "c", "1", "2", "-", "]", "!", "^", "*", "[a", "[]", "[!]"]
    for name in names.map({ "x\($0)" }) + [".x", "a"] {
      try directory.write("ServerAliveCountMax 5\n", to: "d/\(name)")
    }
    let path = try directory.write("Include \"\(directory.path)/d/\(pattern)\"\n", to: "config")
    let read = Mutex([String]())
    let files = ClientConfig.Files(
      read: { (path, isChecked) throws(AppError) -> String? in
        let text = try ClientConfig.Files.local.read(path, isChecked)
        if text != nil, path.contains("/d/") { read.withLock { $0.append(path) } }
        return text
      }, names: ClientConfig.Files.local.names)
    let query = ClientConfig.Query(host: "web", home: directory.path, localUser: "ann")
    _ = try ClientConfig.resolve(query, sources: [.named(path)], files: files)
    let log = try Program.run(Self.ssh, ["-v", "-F", path, "-G", "web"])
    let theirs = log.split(whereSeparator: \.isNewline).compactMap { line in
      line.firstRange(of: "Reading configuration data \(directory.path)/d/").map {
        "\(directory.path)/d/\(line[$0.upperBound...])"
      }
    }
    #expect(read.withLock { $0 } == theirs)
  }

  @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: ssh)))
  func opensshReplacesTheSameTokens() throws {
    let directory = try TemporaryDirectory()
    let text =
      "HostName Real\nHostKeyAlias PrOd\nUser bob\nPort 2200\n"
      + "UserKnownHostsFile /%C /%n-%k-%i-%l-%L-%h-%p-%r-%u-%% ~root/x\n"
    let path = try directory.write(text, to: "config")
    let theirs = try settings(path, host: "Web")
    let name = try Program.run("/bin/hostname", []).split(separator: "\n")
    let user = try Program.run("/usr/bin/id", ["-un"]).split(separator: "\n")
    let query = ClientConfig.Query(
      host: "Web", home: "/root", localUser: String(try #require(user.first)),
      localUserID: getuid(), localHost: String(try #require(name.first)))
    let ours = try ClientConfig.resolve(query, sources: [.named(path)], files: .local)
    #expect(theirs["userknownhostsfile"] == ours.userKnownHostsFiles?.joined(separator: " "))
    #expect(theirs["hostkeyalias"] == ours.knownHostName.name)
  }

  private func settings(
    _ path: String, host: String = "web"
  ) throws -> [String: String] {
    let text = try Program.run(Self.ssh, ["-G", "-F", path, host])
    var settings: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      if parts.count == 2 { settings[parts[0]] = parts[1] }
    }
    return settings
  }
}
