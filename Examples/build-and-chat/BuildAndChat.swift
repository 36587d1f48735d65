import Bridge
import Foundation

/// Keeps an SSH link to a build machine and a WebSocket to an app up, runs the commands that the
/// app sends, and shows errors to a person who chooses what to do about them.
func serve(
  app: WebSocketEndpoint, building on: Endpoint, as user: String, _ person: Person
) async throws(AppError) {
  let supervisor = Supervisor(clock: ContinuousClock()) { option, _ in
    guard option == .checkSettings else { throw OptionUnavailable() }
    await person.changeSettings()
  }
  let machine = try await supervisor.add("build", to: on) { endpoint in
    SSHConnection(to: endpoint, configuration: await person.settings(for: user))
  }
  let chat = try await supervisor.add(
    "app", to: app.endpoint, LinkOptions(parents: [machine.id]),
    onConnected: { socket in await answer(socket, by: machine, supervisor) },
    make: { _ in WebSocketConnection(to: app) })
  let (screen, ends) = (await supervisor.presented(), chat.events())
  let showing = Task {
    for await errors in screen {
      guard let (option, error) = await person.choice(among: errors) else { continue }
      await supervisor.choose(option, for: error.id)
    }
  }
  for await event in ends {
    if case .gaveUp = event.step { break }
  }
  await supervisor.shutDown()
  await showing.value
}

/// Runs each message of the app as a command and sends back what it wrote. An error of the socket
/// is the supervisor's to report, one of the command is ours.
func answer(
  _ socket: WebSocketConnection, by machine: Link<SSHConnection>,
  _ supervisor: Supervisor<ContinuousClock>
) async {
  do throws(AppError) {
    for try await message in socket.messages {
      guard case .text(let command) = message else { continue }
      let reply = try? await supervisor.run(source: "command", .onlyWithoutEffect) {
        try await output(of: command, on: machine)
      }
      try await socket.send(text: reply ?? "The command failed.")
    }
  } catch {}
}

/// Everything that a command wrote to its standard output.
func output(of command: String, on machine: Link<SSHConnection>) async throws(AppError) -> String {
  let channel = try await machine.connection.execute(command)
  channel.standardError.discard()
  var bytes: [UInt8] = []
  for try await chunk in channel.standardOutput { bytes += chunk }
  _ = try await channel.exitStatus()
  return String(decoding: bytes, as: UTF8.self)
}

/// Stands in for the person at the screen: the first login fails, the settings are changed, and the
/// link is reconnected.
actor Person {
  private let home: String
  private var key = "id_missing"
  private var answered: Set<PresentedError.ID> = []

  init(home: String) { self.home = home }

  func settings(for user: String) -> SSHConfiguration {
    SSHConfiguration(
      user: user, credentials: [.keyFile("\(home)/.ssh/\(key)")], hostKeys: .standard(home: home))
  }

  func changeSettings() { key = "id_ed25519" }

  /// Shows what is on the screen, and chooses once for each error that waits for a choice.
  func choice(
    among errors: [PresentedError]
  ) -> (option: ErrorRecoveryOption.Kind, error: PresentedError)? {
    for error in errors {
      let wait = error.plan?.at.map { ", again in \($0.components.seconds) s" } ?? ""
      print("\(error.source ?? "-"): \(error.error.caseName)\(wait)")
    }
    let open = errors.first { error in
      [.askPerson, .giveUp].contains(error.plan?.next) && !answered.contains(error.id)
    }
    guard let error = open else { return nil }
    answered.insert(error.id)
    guard error.link == "build" else { return (.cancel, error) }
    changeSettings()
    return (.reconnect, error)
  }
}

/// `build-and-chat USER HOST PORT APP`: the key and known_hosts are those of the user.
@main enum BuildAndChat {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let port = Int(arguments[3]) else {
      print("usage: build-and-chat USER HOST PORT APP")
      exit(64)
    }
    let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
    do throws(AppError) {
      try await serve(
        app: try WebSocketEndpoint(arguments[4]),
        building: Endpoint(host: arguments[2], port: port), as: arguments[1],
        Person(home: home))
    } catch {
      print("\(error.caseName): \(error.userMessage)")
      exit(1)
    }
  }
}
