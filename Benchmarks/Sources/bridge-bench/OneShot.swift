import BridgeErrors
import Foundation

/// `bridgectl connect … -- true` as a process, beside the same work in this one, in turn.
struct OneShot {
  let program: String
  let port: Int
  let keyFile: String
  let count: Int

  /// - Parameter work: connect, authenticate, run `true`, close, in this process.
  func callAsFunction(beside work: () async throws(AppError) -> Void) async throws(AppError) {
    var process: [Double] = []
    var inside: [Double] = []
    var overhead: [Double] = []
    let knownHosts = FileManager.default.temporaryDirectory
      .appendingPathComponent("bridge-bench-\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: knownHosts) }
    // The first of each pays for what the others find: pages of the program, the host's key.
    for round in 0...count {
      let outer = try await milliseconds { () throws(AppError) in
        try run(knownHosts: knownHosts.path)
      }
      let inner = try await milliseconds(work)
      guard round > 0 else { continue }
      process.append(outer)
      inside.append(inner)
      overhead.append(outer - inner)
    }
    report([
      ("process_ms", Sample(process).quantile(0.5)), ("inside_ms", Sample(inside).quantile(0.5)),
      ("overhead_ms", Sample(overhead).quantile(0.5)), ("count", Double(count)),
    ])
  }

  private func milliseconds(
    _ body: () async throws(AppError) -> Void
  ) async throws(AppError) -> Double {
    let watch = Stopwatch()
    try await body()
    return watch.wall * 1000
  }

  private func run(knownHosts: String) throws(AppError) {
    let child = Process()
    child.executableURL = URL(fileURLWithPath: program)
    child.arguments = [
      "connect", "-F", "none", "--batch", "-p", "\(port)", "-l", "root", "-i", keyFile,
      "--host-key", "accept-new", "--known-hosts", knownHosts, "127.0.0.1", "--", "true",
    ]
    child.standardInput = FileHandle.nullDevice
    do { try child.run() } catch { throw .fileNotFound(path: program) }
    child.waitUntilExit()
    guard child.terminationStatus == 0 else {
      throw .sshCommandFailed(
        command: program, exitCode: Int(child.terminationStatus), stderr: nil)
    }
  }
}
