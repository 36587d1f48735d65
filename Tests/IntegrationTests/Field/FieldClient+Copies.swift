import BridgeFaults
import Foundation

extension FieldClient {
  /// A tree there and back.
  func copy() async throws -> Finding {
    try makeTree(bytes: 300_000)
    let there = try await run(["cp", "-r"] + link + [home.file("tree"), "\(target):copy"])
    guard there.code == 0 else { return Finding(stoppedBy: there, "cp there") }
    let back = try await run(["cp", "-r"] + link + ["\(target):copy", home.file("back")])
    guard back.code == 0 else { return Finding(stoppedBy: back, "cp back") }
    let difference = try await home.run(
      ["-r", "--no-dereference", home.file("tree"), home.file("back")], program: "/usr/bin/diff")
    return difference.code == 0 ? .right() : .wrong("differs: \(difference.text.prefix(160))")
  }

  /// A tree whose link breaks on the way.
  func copyThroughOutage() async throws -> Finding {
    let rate = min(4_000_000, world.world.network.bytesPerSecond ?? 4_000_000)
    let bytes = 2 * rate
    try makeTree(bytes: bytes)
    try await world.slow(to: rate)
    // A world may break the first dial, too, which a run without --wait gives up on, as ssh does.
    let running = try start(
      ["cp", "-r", "--wait=60s"] + link + [home.file("tree"), "\(target):copy"])
    while running.isAlive, let sent = await world.sent, sent < bytes / 3 {
      try await ContinuousClock().sleep(for: .milliseconds(5))
    }
    if running.isAlive { try await world.breakLinks() }
    let outcome = try await end(running)
    guard outcome.code == 0 else { return Finding(stoppedBy: outcome, "cp") }
    try await world.heal()
    // Read over ssh, which has no part in the copy.
    let sums = "sh -c 'find . -type f | sort | while read -r f; do sha256sum \"$f\"; done'"
    let there = try await run(
      options + [target, "cd copy && \(sums)"], program: "/usr/bin/ssh")
    let here = try await home.run(
      ["-c", "cd tree && \(sums)"], through: "cd \"$HOME\"; exec \"$0\" \"$@\"", program: "/bin/sh")
    return there.text.hasSuffix(here.text) && !here.text.isEmpty
      ? .right() : .wrong("differs: \(there.error.prefix(160))")
  }

  private func makeTree(bytes: Int) throws {
    for number in 1...20 {
      try home.write("content \(number)\n", to: "tree/folder \(number % 3)/file \(number)")
    }
    let random = try FileHandle(forReadingFrom: URL(filePath: "/dev/urandom"))
    let data = try random.read(upToCount: bytes) ?? Data()
    try data.write(to: URL(filePath: home.file("tree/large")))
    try FileManager.default.createSymbolicLink(
      atPath: home.file("tree/link"), withDestinationPath: "large")
  }
}
