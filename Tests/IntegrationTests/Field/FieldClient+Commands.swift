import BridgeFaults

extension FieldClient {
  /// A command of any shell that counts its start.
  private func line(_ text: String) -> String {
    "sh -c 'echo run >>\(shared("count")); \(text)'"
  }

  /// Output, then a wait until the story lets it go on, then more and a status.
  var waitingLine: String {
    line("echo begin; until [ -e \(shared("go")) ]; do sleep 0.05; done; echo end; exit 7")
  }

  /// A command with output and a status.
  func command() async throws -> Finding {
    let line = line("echo out; echo err >&2; exit 7")
    let outcome = try await run(["connect"] + link + [target, "--", line])
    let seen = Seen(code: outcome.code, output: outcome.text, runs: runs)
    let finding = try await Finding(
      outcome, seen, expected: Seen(code: 7, output: "out\n", runs: 1)
    ) {
      forgetRuns()
      let outcome = try await run(options + [target, line], program: "/usr/bin/ssh")
      return Seen(code: outcome.code, output: outcome.text, runs: runs)
    }
    guard finding == .right(), !outcome.error.contains("err\n") else { return finding }
    return .wrong("no standard error")
  }

  /// A command whose link breaks while it runs.
  func commandThroughOutage() async throws -> Finding {
    // A shell there, or `install`, has found it; where a command is forced nothing has.
    if world.world.hasBridgeHost, world.world.name != "forced" {
      try home.knowsBridgeHost(
        of: world.user, by: world.identityFile, behind: world.knownHosts)
    }
    let running = try start(["connect"] + link + [target, "--", waitingLine])
    let hasBegun = try await begun(running)
    if hasBegun { try await world.breakLinks() }
    try letGo()
    let outcome = try await end(running)
    // What goes on behind a client that was refused may still begin the command again.
    if outcome.code != 7 { try await ContinuousClock().sleep(for: .milliseconds(500)) }
    return try await Finding(
      outcome, Seen(code: outcome.code, output: outcome.text, runs: runs),
      expected: Seen(code: 7, output: "begin\nend\n", runs: 1)
    ) {
      // It would not survive the outage either.
      guard !hasBegun || outcome.refusal == nil else { return nil }
      return try await waitingLineBySSH()
    }
  }

  /// Waits until the command has printed its first line, or has ended without; 3 s after its start
  /// a start-up file may have sent that elsewhere.
  private func begun(_ running: Home.Running) async throws -> Bool {
    let start = ContinuousClock.now
    var limit = Duration.seconds(3)
    while !home.read("out-\(running.name)").contains("begin") {
      guard running.isAlive else { return home.read("out-\(running.name)").contains("begin") }
      if runs == 0 { limit = ContinuousClock.now - start + .seconds(3) }
      guard ContinuousClock.now - start < limit else { return true }
      try await ContinuousClock().sleep(for: .milliseconds(10))
    }
    return true
  }

  /// What `ssh` makes of it where nothing breaks, and it is let go on.
  func waitingLineBySSH() async throws -> Seen {
    forgetRuns()
    let outcome = try await run(options + [target, waitingLine], program: "/usr/bin/ssh")
    return Seen(code: outcome.code, output: outcome.text, runs: runs)
  }
}
