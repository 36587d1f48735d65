import Bridge
import Foundation

func run(_ script: String, as user: String, on server: Endpoint, home: String) async throws {
  let connection = SSHConnection(
    to: server,
    configuration: SSHConfiguration(
      user: user, credentials: [.keyFile("\(home)/.ssh/id_ed25519")],
      hostKeys: .standard(home: home)))
  try await connection.connect()
  let result = try await connection.run(script)
  print(result.text, "ended with \(result.status)", separator: "")
  await connection.close()
}

/// Runs one command on a host that the user's known_hosts knows: `remote-command USER HOST PORT
/// SCRIPT`. What the README shows, as a program.
@main enum RemoteCommand {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let port = Int(arguments[3]) else {
      print("usage: remote-command USER HOST PORT SCRIPT")
      exit(64)
    }
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    do {
      let server = Endpoint(host: arguments[2], port: port)
      try await run(arguments[4], as: arguments[1], on: server, home: home)
    } catch let error as AppError {
      print("\(error.caseName): \(error.userMessage)")
      exit(1)
    } catch {
      print("standard output is gone: \(error)")
      exit(1)
    }
  }
}
