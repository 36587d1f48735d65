import Foundation
import Testing

/// The scripts that a newcomer runs first.
@Suite struct ScriptTests {
  private func run(
    _ script: String, _ arguments: [String] = [], environment: [String: String]? = nil
  ) throws -> (code: Int32, text: String) {
    try run(Checkout.root.appending(path: script), arguments, environment: environment)
  }

  private func run(
    _ script: URL, _ arguments: [String], environment: [String: String]? = nil
  ) throws -> (code: Int32, text: String) {
    let process = Process()
    process.executableURL = script
    process.arguments = arguments
    if let environment { process.environment = environment }
    let pipe = Pipe()
    (process.standardOutput, process.standardError) = (pipe, pipe)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: data, as: UTF8.self))
  }

  private func text(_ script: String) throws -> String {
    try String(contentsOf: Checkout.root.appending(path: script), encoding: .utf8)
  }

  @Test func buildingInstallsNoServer() throws {
    let build = try run("scripts/setup", ["--list"])
    #expect(build.code == 0 && build.text.contains("libssh2-1-dev\n"))
    for package in ["openssh-server", "dropbear-bin", "busybox-static", "vim"] {
      #expect(!build.text.contains(package))
    }
    let all = try run("scripts/setup", ["--tests", "--list"])
    #expect(all.text.hasPrefix(build.text) && all.text.contains("openssh-server\n"))
    #expect(try run("scripts/setup", ["--everything"]).code == 64)
    #expect(try text("scripts/bridgectl").contains("/scripts/setup\"\n"))
    #expect(try text("scripts/test").contains("\nscripts/setup --tests\n"))
  }

  /// Commands that stand in for those of a machine without any of the packages.
  private func machine(sudo: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "bridge-setup-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let tools = [
      "dpkg-query": "exit 1", "apt-get": "exit 1", "id": "echo 1000",
      "sudo": "echo \"sudo: $*\"; \(sudo)",
    ]
    for (name, body) in tools {
      let tool = folder.appending(path: name)
      try Data("#!/bin/sh\n\(body)\n".utf8).write(to: tool)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool.path)
    }
    return folder
  }

  /// Without a terminal sudo must not wait for a password; at one it may ask.
  @Test func withoutATerminalSudoAsksNothingAndTheCommandIsShown() throws {
    let folder = try machine(sudo: "exit 1")
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = ["PATH": "\(folder.path):/usr/bin:/bin"]
    let refused = try run("scripts/setup", environment: path)
    #expect(refused.code == 69)
    #expect(refused.text.contains("sudo: -n env "), "\(refused.text)")
    #expect(refused.text.contains("\n    apt-get install --no-install-recommends libssh2-1-dev "))
    let command = Checkout.root.appending(path: "scripts/setup").path
    let terminal = Process()
    terminal.executableURL = URL(filePath: "/usr/bin/script")
    terminal.arguments = ["-qec", "'\(command)'", "/dev/null"]
    terminal.environment = path
    let pipe = Pipe()
    terminal.standardInput = FileHandle.nullDevice
    terminal.standardOutput = pipe
    try terminal.run()
    let shown = String(
      decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    terminal.waitUntilExit()
    #expect(shown.contains("sudo: env DEBIAN_FRONTEND"), "\(shown)")
  }

  /// In a tree whose bridgectl is built and prints its arguments, and whose bridge-host is not.
  @Test func installFromTheBuildTreeBuildsWhatItInstalls() throws {
    let root = FileManager.default.temporaryDirectory
      .appending(path: "bridge-tree-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: root) }
    let files = [
      "Package.swift": "", "Sources/a.swift": "",
      ".build/release/bridgectl": "#!/bin/sh\necho \"$*\"\n",
      "scripts/bridgectl": try text("scripts/bridgectl"),
      "scripts/build-host": """
      #!/bin/sh
      root=$(dirname "$0")/..
      mkdir -p "$root/.build-host/release"; cp /bin/true "$root/.build-host/release/bridge-host"

      """,
    ]
    for (name, text) in files.sorted(by: { $0.key > $1.key }) {
      let file = root.appending(path: name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
      // The sources are the oldest: what is built is current.
      try FileManager.default.setAttributes(
        [
          .posixPermissions: 0o755,
          .modificationDate: Date(timeIntervalSinceNow: name.hasPrefix(".build") ? -1 : -9),
        ], ofItemAtPath: file.path)
    }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -9)],
      ofItemAtPath: root.appending(path: "Sources").path)
    let script = root.appending(path: "scripts/bridgectl")
    let host = root.resolvingSymlinksInPath().path + "/.build-host/release/bridge-host"
    for (words, expected) in [
      (["install", "-p", "22", "web"], "install --binary \(host) -p 22 web\n"),
      (["install", "web"], "install --binary \(host) web\n"),
      (["install", "--binary", "x", "web"], "install --binary x web\n"),
      (["install", "--help"], "install --help\n"), (["version"], "version\n"),
    ] {
      let built = FileManager.default.fileExists(atPath: host)
      let outcome = try run(script, words)
      let says = words[0] == "install" && !built ? "Building bridge-host ...\n" : ""
      #expect(outcome.code == 0 && outcome.text == says + expected, "\(outcome.text)")
    }
  }

  @Test func theTestsSayHowLongTheyTook() throws {
    let lines = try text("scripts/test").split(separator: "\n")
    #expect(lines.suffix(2).first?.contains("scripts/test took $((SECONDS / 60)) min") == true)
  }
}
