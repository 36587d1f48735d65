import BridgeFaults
import BridgeTestKit
import Foundation

/// A user in front of a world: runs bridgectl, and `ssh` beside it.
struct FieldClient: Sendable {
  let world: RunningWorld
  let home: Home

  /// The programs that are tried: those beside the tests, unless scripts/field names others.
  static let program = variable("FIELD_BRIDGECTL") ?? Child.program
  static let host = variable("FIELD_BRIDGE_HOST") ?? SessionFolder.program

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  init(_ world: RunningWorld) throws {
    self.world = world
    home = try Home()
    try home.write(world.knownHosts, to: "known_hosts")
  }

  var target: String { "\(world.user)@127.0.0.1" }

  /// How bridgectl gets there.
  var link: [String] {
    [
      "-F", "none", "-p", "\(world.port)", "-i", world.identityFile, "--known-hosts",
      home.file("known_hosts"),
    ]
  }

  /// How `ssh` gets there.
  var options: [String] {
    [
      "-F", "none", "-p", "\(world.port)", "-i", world.identityFile, "-o", "BatchMode=yes",
      "-o", "UserKnownHostsFile=\(home.file("known_hosts"))", "-o", "StrictHostKeyChecking=yes",
    ]
  }

  /// Starts a program on pipes.
  func start(
    _ arguments: [String], program: String = Self.program, before: String = ""
  ) throws -> Home.Running {
    try home.start(
      arguments, through: before + world.entry, environment: world.environment, program: program)
  }

  /// Runs a program on pipes; it is killed where the story is given up.
  func run(
    _ arguments: [String], program: String = Self.program, before: String = ""
  ) async throws -> Outcome {
    try await end(try start(arguments, program: program, before: before))
  }

  /// Waits for the end of a run, or kills it where the story is given up.
  func end(_ running: Home.Running) async throws -> Outcome {
    try await withTaskCancellationHandler {
      let outcome = try await running.outcome()
      try Task.checkCancellation()
      return outcome
    } onCancel: {
      running.child.signal(SIGKILL)
    }
  }

  /// Starts bridgectl, or another program, on a terminal.
  func screen(
    _ arguments: [String], program: String = Self.program
  ) throws -> (Terminal, Screen, Child) {
    let terminal = try Terminal()
    let child = try Child(
      ["-c", world.entry, program] + arguments, program: "/bin/bash",
      environment: home.environment.merging(world.environment) { $1 },
      streams: .terminal(terminal.path), onEnd: terminal.hangUp)
    return (terminal, Screen(terminal, child), child)
  }

  /// A file of both ends.
  func shared(_ name: String) -> String { "\(world.scratch)/\(name)" }

  /// How often a command has begun.
  var runs: Int {
    ((try? String(contentsOfFile: shared("count"), encoding: .utf8)) ?? "")
      .split(separator: "\n").count
  }

  func forgetRuns() { try? FileManager.default.removeItem(atPath: shared("count")) }

  /// Lets a command go on that waits for this.
  func letGo() throws { try Data().write(to: URL(filePath: shared("go"))) }

  /// Waits until a run has printed this, or has ended without it.
  func printed(_ text: String, by running: Home.Running) async throws -> Bool {
    while !home.read("out-\(running.name)").contains(text) {
      guard running.isAlive else { return home.read("out-\(running.name)").contains(text) }
      try await ContinuousClock().sleep(for: .milliseconds(10))
    }
    return true
  }
}

extension Home.Running {
  /// Whether it has not ended; a zombie has.
  var isAlive: Bool {
    let line = (try? String(contentsOfFile: "/proc/\(child.pid)/stat", encoding: .utf8)) ?? ""
    guard let end = line.lastIndex(of: ")") else { return false }
    return !line[line.index(after: end)...].hasPrefix(" Z")
  }
}
