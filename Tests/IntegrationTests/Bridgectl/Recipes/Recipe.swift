import BridgeFaults
import BridgeTestKit
import Foundation
import Testing

/// What docs/recipes.md assumes: `~/.ssh/config` calls a server `box`, `ssh` in a directory of its
/// own is a link to bridgectl, and the host has `bridge-host`. The way there is a proxy's.
struct Recipe {
  let server: SSHServer
  let proxy: FaultProxy
  let home: Home
  let sessions: SessionFolder

  /// What the document calls the command that outlives its links.
  static let durable = "bridgectl connect --durable=require --wait -q"
  /// Bytes to copy: several links' worth.
  static let size = 1_500_000

  /// Whether a tool is here; Debian's package of it is in scripts/setup, but for the large ones.
  static func isInstalled(_ name: String) -> Bool { path(of: name) != nil }

  /// Where it is.
  static func path(of name: String) -> String? {
    ["/usr/bin/\(name)", "/usr/local/bin/\(name)"]
      .first(where: FileManager.default.isExecutableFile(atPath:))
  }

  /// Whether sshfs can mount.
  static var canMount: Bool {
    isInstalled("sshfs") && FileManager.default.isWritableFile(atPath: "/dev/fuse")
  }

  /// Runs a script of bash in an empty `~/try`: `$SSH` is `program` in a directory of its own, and
  /// `$B` the command that outlives its links. `data` has some bytes to copy.
  func run(_ script: String, ssh program: String = Child.program) async throws -> Outcome {
    let files = FileManager.default
    for folder in ["try", "as"] {
      try? files.removeItem(atPath: home.file(folder))
      try files.createDirectory(atPath: home.file(folder), withIntermediateDirectories: true)
    }
    try files.createSymbolicLink(atPath: home.file("as/ssh"), withDestinationPath: program)
    // Bytes that no tool can compress, the same each time.
    let start = """
      cd ~/try || exit 99
      openssl enc -aes-128-ctr -in /dev/zero -K $(printf '%032d' 1) -iv $(printf '%032d' 2) \
        2> /dev/null | head -c \(Self.size) > data
      """
    return try await home.run(
      ["-c", "\(start)\n\(script)"], environment: environment, program: "/bin/bash")
  }

  /// Runs the script with `ssh` and with bridgectl in its place: both end with `code`, and what
  /// they write is the same.
  func isAsWithSSH(_ script: String, code: Int32 = 0) async throws {
    let theirs = try await run(script, ssh: home.file("theirs"))
    let ours = try await run(script)
    #expect(theirs.code == code, "\(theirs.text)\(theirs.error)")
    #expect(ours.code == code, "\(ours.text)\(ours.error)")
    #expect(ours.text == theirs.text)
    #expect(ours.error == theirs.error)
  }

  /// Runs the script over a link that is cut so: both end with one of `codes`.
  func failsAsWithSSH(_ script: String, at cut: Cut, with codes: Set<Int32>) async throws {
    try await proxy.inject(cut)
    let theirs = try await run(script, ssh: home.file("theirs"))
    try await proxy.inject(cut)
    let ours = try await run(script)
    #expect(codes.contains(theirs.code), "\(theirs.text)\(theirs.error)")
    #expect(codes.contains(ours.code), "\(ours.text)\(ours.error)")
    #expect(!ours.error.contains("bridgectl: "), "\(ours.error)")
  }

  /// Runs the script over links that are each cut after `count` bytes in one of the directions, the
  /// first one within its login: it ends with 0, writes `text` to standard output and nothing to
  /// standard error, and no program of it goes on.
  func outlives(
    _ script: String, cuttingAfter count: Int = 300_000, writing text: String = ""
  ) async throws {
    for direction in Direction.allCases {
      try await proxy.inject(.cut(after: count, direction), on: .all)
    }
    try await proxy.inject(.cut(after: 1_500))
    let outcome = try await run(script)
    #expect(outcome.code == 0, "\(outcome.text)\(outcome.error)")
    #expect(outcome.text == text)
    #expect(outcome.error.isEmpty, "\(outcome.error)")
    let resets = await proxy.log.count { $0.kind == .reset }
    #expect(resets >= 4, "links that were not cut show nothing")
    try await eventually { sessions.keepers.isEmpty }
  }

  private var environment: [String: String] {
    var names = ["HOME": home.path]
    names["PATH"] = "\(home.path)/bin:/usr/local/bin:/usr/bin:/bin"
    names["SSH"] = home.file("as/ssh")
    names["B"] = Self.durable
    for person in ["AUTHOR", "COMMITTER"] {
      names["GIT_\(person)_NAME"] = "me"
      names["GIT_\(person)_EMAIL"] = "me@box"
      names["GIT_\(person)_DATE"] = "1700000000 +0000"
    }
    names["GIT_CONFIG_COUNT"] = "1"
    names["GIT_CONFIG_KEY_0"] = "init.defaultBranch"
    names["GIT_CONFIG_VALUE_0"] = "main"
    names["BORG_BASE_DIR"] = home.file("try/borg")
    names["BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK"] = "yes"
    return names
  }
}

/// Runs `body` with such a host; no session is left after.
func withRecipe(
  _ configuration: SSHServerConfiguration = .init(), _ body: (Recipe) async throws -> Void
) async throws {
  try await withSessions(configuration) { server, home, sessions in
    let proxy = try await FaultProxy(to: server.port)
    let files = FileManager.default
    let keys = await server.knownHosts
    try home.write(
      keys.replacing("[127.0.0.1]:\(server.port) ", with: "[127.0.0.1]:\(proxy.port) "),
      to: "known_hosts")
    try home.write(
      """
      Host box
        HostName 127.0.0.1
        Port \(proxy.port)
        User \(server.user)
        IdentityFile \(server.identityFile)
        IdentitiesOnly yes
        UserKnownHostsFile \(home.file("known_hosts"))

      """, to: ".ssh/config")
    // OpenSSH finds a configuration in the home directory of the account, not in $HOME.
    try home.write(
      "#!/bin/sh\nexec /usr/bin/ssh -F \(home.file(".ssh/config")) \"$@\"\n", to: "theirs")
    try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.file("theirs"))
    try files.createDirectory(atPath: home.file("bin"), withIntermediateDirectories: true)
    try files.createSymbolicLink(
      atPath: home.file("bin/bridgectl"), withDestinationPath: Child.program)
    do {
      try await body(Recipe(server: server, proxy: proxy, home: home, sessions: sessions))
    } catch {
      await proxy.stop()
      throw error
    }
    await proxy.stop()
  }
}
