import BridgeFaults
import Foundation

/// OpenSSH's client, which checks what our servers serve.
struct OpenSSHClient {
  var port: Int
  var user: String
  var identityFile: String
  var knownHosts: String?

  struct Answer: Equatable {
    var status: Int32
    var output: String
    var errors: String
  }

  /// Runs `command` on the server and returns what came back.
  func run(_ command: String) async throws -> Answer {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/ssh")
    process.arguments =
      options.flatMap { ["-o", $0] } + [
        "-F", "/dev/null", "-p", "\(port)", "-l", user, "-i", identityFile, "127.0.0.1", command,
      ]
    let (output, errors) = (Pipe(), Pipe())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    let status = try await withCheckedThrowingContinuation { caller in
      process.terminationHandler = { caller.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { caller.resume(throwing: error) }
    }
    return Answer(status: status, output: text(output), errors: text(errors))
  }

  private var options: [String] {
    let hosts = knownHosts ?? "/dev/null"
    return [
      "BatchMode=yes", "IdentitiesOnly=yes", "IdentityAgent=none", "UserKnownHostsFile=\(hosts)",
      "StrictHostKeyChecking=\(knownHosts == nil ? "no" : "yes")", "ConnectTimeout=50",
    ]
  }

  private func text(_ pipe: Pipe) -> String {
    String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  }
}

extension OpenSSHClient {
  init(_ server: SSHServer, knownHosts: String? = nil) {
    self.init(
      port: server.port, user: server.user, identityFile: server.identityFile,
      knownHosts: knownHosts)
  }
}
