import Bridge
import Foundation

func complete(
  _ script: String, on server: Endpoint, _ configuration: SSHConfiguration
) async throws -> (output: [UInt8], status: ExitStatus) {
  let supervisor = Supervisor(clock: ContinuousClock())
  let link = try await supervisor.add(ConnectionID("build"), to: server) { endpoint in
    SSHConnection(to: endpoint, configuration: configuration)
  }
  defer { supervisor.requestShutDown() }
  while true {
    // Waits until a connection is up.
    let connection = try await link.connection
    do throws(AppError) {
      let command = try await connection.execute(script)
      command.standardError.discard()
      var output: [UInt8] = []
      for try await bytes in command.standardOutput { output += bytes }
      return (output, try await command.exitStatus())
    } catch {
      // The server refused it, or the task was canceled. After a lost link it runs again: this
      // script may run twice.
      guard await connection.lastFailure != nil else { throw error }
    }
  }
}

/// Runs one script to its end, however often the link breaks: `supervised-command USER HOST PORT
/// SCRIPT`. What the README shows, as a program.
@main enum SupervisedCommand {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let port = Int(arguments[3]) else {
      print("usage: supervised-command USER HOST PORT SCRIPT")
      exit(64)
    }
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    let configuration = SSHConfiguration(
      user: arguments[1], credentials: [.keyFile("\(home)/.ssh/id_ed25519")],
      hostKeys: .standard(home: home))
    do {
      let server = Endpoint(host: arguments[2], port: port)
      let result = try await complete(arguments[4], on: server, configuration)
      print(String(decoding: result.output, as: UTF8.self), terminator: "")
      print("ended with \(result.status)")
    } catch let error as AppError {
      print("\(error.caseName): \(error.userMessage)")
      exit(1)
    } catch {
      print("cancelled")
      exit(1)
    }
  }
}
