import BridgeFaults

extension FieldClient {
  /// A command that is started and left, and found again.
  func leaveAndReturn() async throws -> Finding {
    try await left { id in
      let list = try await run(["sessions"] + link + [target])
      guard list.code == 0 else { return Finding(stoppedBy: list, "sessions") }
      guard list.text.contains(id.prefix(12)) else { return .wrong("not in the list: \(list)") }
      try letGo()
      return nil
    }
  }

  /// The same, with a reader whose link breaks.
  func leaveThroughOutage() async throws -> Finding {
    try await left { id in
      let reader = try start(["logs", "-f"] + link + [target, id])
      if try await printed("begin", by: reader) { try await world.breakLinks() }
      try letGo()
      let outcome = try await end(reader)
      // A start-up file may print before: that is compared with what `logs` prints.
      guard outcome.text.hasSuffix("begin\nend\n"), outcome.code == 0 else {
        return Finding(stoppedBy: outcome, "logs -f \(outcome.text.debugDescription)")
      }
      return nil
    }
  }

  private func left(_ meanwhile: (String) async throws -> Finding?) async throws -> Finding {
    let started = try await run(["run", "--detach"] + link + [target, "--", waitingLine])
    guard started.code == 0, let id = started.text.split(separator: "\n").last else {
      return runs <= 1 ? Finding(stoppedBy: started, "run") : .wrong("\(runs) runs")
    }
    if let finding = try await meanwhile(String(id)) { return finding }
    let waited = try await run(["wait"] + link + [target, String(id)])
    let logs = try await run(["logs"] + link + [target, String(id)])
    guard logs.code == 0 else { return Finding(stoppedBy: logs, "logs") }
    return try await Finding(
      waited, Seen(code: waited.code, output: logs.text, runs: runs),
      expected: Seen(code: 7, output: "begin\nend\n", runs: 1)
    ) { try await waitingLineBySSH() }
  }
}
