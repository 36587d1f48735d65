import BridgeErrors
import BridgeSSH
import Foundation
import Testing

/// ssh_config in real files, with `ssh -G` as the second opinion.
struct LocalConfigTests {
  @Test func aFileThatOthersMayWriteIsRefusedUnlessNamed() throws {
    let room = try TemporaryDirectory()
    let path = try room.write("Port 2200", to: "config", mode: 0o666)
    let question = ClientConfig.Question(host: "web", home: room.path, localUser: "ann")
    let reason = "Bad owner or permissions: others could have written it."
    #expect(throws: AppError.fileReadError(path: path, reason: reason)) {
      try ClientConfig.resolve(question, path: path, files: .local(named: false))
    }
    let config = try ClientConfig.resolve(question, path: path, files: .local(named: true))
    #expect(config.port == 2200)
  }

  @Test func includesReachRealDirectories() throws {
    let room = try TemporaryDirectory()
    try FileManager.default.createDirectory(
      atPath: room.file(".ssh/d"), withIntermediateDirectories: true)
    try room.write("User one", to: ".ssh/d/1.conf")
    try room.write("User two\nPort 2200", to: ".ssh/d/2.conf")
    let path = try room.write("Include d/*.conf", to: ".ssh/config")
    let question = ClientConfig.Question(host: "web", home: room.path, localUser: "ann")
    let config = try ClientConfig.resolve(question, path: path, files: .local(named: false))
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
    ])
  func opensshReadsTheSame(text: String) throws {
    let room = try TemporaryDirectory()
    let path = try room.write(text + "\n", to: "config")
    let question = ClientConfig.Question(host: "web", home: room.path, localUser: "ann")
    let ours = try ClientConfig.resolve(question, path: path, files: .local(named: true))
    let theirs = try settings(path)
    #expect(theirs["hostname"] == ours.hostName)
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

  private func settings(_ path: String) throws -> [String: String] {
    let text = try Program.run(Self.ssh, ["-G", "-F", path, "web"])
    var settings: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
      if parts.count == 2 { settings[parts[0]] = parts[1] }
    }
    return settings
  }
}
