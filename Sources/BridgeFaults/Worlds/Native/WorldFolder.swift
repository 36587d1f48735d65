import Foundation

/// The files of a world, and the command that starts its server.
struct WorldFolder {
  private let world: World
  private let folder: TemporaryFolder

  init(_ world: World, _ folder: TemporaryFolder) {
    self.world = world
    self.folder = folder
  }

  /// Makes the files.
  ///
  /// - Returns: the port of the server, and its command.
  func prepare(host: String) async throws(FaultError) -> (port: Int, command: [String]) {
    let port = try LoopbackPort.reserve()
    try makeDirectories(host: host)
    try makeAccounts()
    try await SSHKeyMaker.make(.ed25519, name: "identity", in: folder)
    try write(folder.read("identity.pub"), to: "authorized_keys", mode: 0o644)
    try write(folder.read("identity.pub"), to: "home/.ssh/authorized_keys", mode: 0o600)
    // Without one zsh asks its new user.
    try write("", to: "home/.zshrc", mode: 0o644)
    if let startup = world.startup {
      try write(startup + "\n", to: "home/.bashrc", mode: 0o644)
      try write(". ~/.bashrc\n", to: "home/.bash_profile", mode: 0o644)
    }
    var command = try await server(port: port)
    if !world.refused.isEmpty {
      try folder.write(WorldScripts.refuseLocks, to: "refuse.py")
      command =
        [Self.python, folder.file("refuse.py")]
        + [world.refused.map(\.rawValue).sorted().joined(separator: ",")] + command
    }
    return (port, enter + command)
  }

  /// The host keys as lines of a known_hosts file.
  func knownHosts(port: Int) -> String {
    (folder.read("\(Self.hostKey).pub") + folder.read("dropbearkey.log"))
      .split(separator: "\n").filter { $0.hasPrefix("ssh-") }
      .map { "[127.0.0.1]:\(port) \($0)\n" }.joined()
  }

  private static let python = "/usr/bin/python3"
  private static let hostKey = SSHServerConfiguration.hostKeyFile(.ed25519)

  /// All that enters the namespaces, up to the command of the server.
  private var enter: [String] {
    var busy = 0
    if case .busy = world.machine { busy = 2 * ProcessInfo.processInfo.activeProcessorCount }
    let discipline = world.network.discipline
    return [MountNamespace.program, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
      + (discipline == nil ? [] : ["--net"])
      + [
        "/bin/sh", "-c", WorldScripts.enter, "sh", folder.path, world.home.rawValue, "\(busy)",
        discipline ?? "",
      ]
  }

  private func server(port: Int) async throws(FaultError) -> [String] {
    switch world.server {
    case .openSSH(var configuration):
      configuration.home = folder.file("home")
      try await SSHKeyMaker.make(.ed25519, name: Self.hostKey, in: folder)
      try folder.write(configuration.text(port: port, folder: folder), to: "sshd_config")
      if let banner = configuration.banner { try folder.write(banner, to: "banner") }
      CurrentUser.makePrivilegeSeparationFolder()
      guard let greeting = world.greeting else {
        return [
          SSHServerProgram.path, "-D", "-f", folder.file("sshd_config"), "-E", folder.file("log"),
        ]
      }
      try folder.write(WorldScripts.greet, to: "greet.py")
      try folder.write(greeting, to: "greeting")
      return [Self.python, folder.file("greet.py"), "\(port)"]
        + ["greeting", "sshd_config", "log", "pid"].map(folder.file)
    case .dropbear:
      let key = folder.file(Self.hostKey)
      var child = try ChildProcess(
        "/usr/bin/dropbearkey", ["-t", "ed25519", "-f", key], log: folder.file("dropbearkey.log"))
      guard await child.finish() else {
        throw .notReady(program: "dropbearkey", log: folder.read("dropbearkey.log"))
      }
      return [
        DropbearServer.program, "-F", "-E", "-s", "-m", "-r", key, "-p", "127.0.0.1:\(port)", "-P",
        folder.file("pid"),
      ]
    }
  }

  private func makeDirectories(host: String) throws(FaultError) {
    for (name, mode) in [
      ("home", 0o700), ("home/.ssh", 0o700), ("scratch", 0o777), ("host", 0o755),
    ] {
      do {
        try FileManager.default.createDirectory(
          atPath: folder.file(name), withIntermediateDirectories: false)
      } catch {
        throw .fileUnusable(path: folder.file(name), detail: "\(error)")
      }
      try set(mode: mode, of: name)
    }
    guard world.hasBridgeHost else { return }
    do {
      try FileManager.default.copyItem(atPath: host, toPath: folder.file("host/bridge-host"))
    } catch {
      throw .fileUnusable(path: host, detail: "\(error)")
    }
    try set(mode: 0o755, of: "host/bridge-host")
  }

  /// The accounts of this system and one more, whose password is none.
  private func makeAccounts() throws(FaultError) {
    let (name, number) = (WorldScripts.name, WorldScripts.user)
    let accounts = [
      ("passwd", "\(name):x:\(number):\(number)::\(folder.file("home")):\(world.shell)\n"),
      ("group", "\(name):x:\(number):\n"),
    ]
    for (file, line) in accounts {
      let system = (try? String(contentsOfFile: "/etc/\(file)", encoding: .utf8)) ?? ""
      try write(system + line, to: file, mode: 0o644)
    }
    try write("\(name):*:19000:0:99999:7:::\n", to: "shadow", mode: 0o600)
  }

  private func write(_ text: String, to name: String, mode: Int) throws(FaultError) {
    try folder.write(text, to: name)
    try set(mode: mode, of: name)
  }

  private func set(mode: Int, of name: String) throws(FaultError) {
    do {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.file(name))
    } catch {
      throw .fileUnusable(path: folder.file(name), detail: "\(error)")
    }
  }
}

extension World {
  /// Why this machine cannot have it; nil where it can.
  package func missing() async -> String? {
    guard CurrentUser.isRoot else { return "needs root" }
    for program in [shell] where !FileManager.default.isExecutableFile(atPath: program) {
      return "\(program) is not installed"
    }
    if case .openSSH(let configuration) = server, configuration.penalties != "no",
      !SSHServerProgram.hasPenalties
    {
      return "this sshd has no PerSourcePenalties"
    }
    let script = "ip link set lo up && tc qdisc add dev lo root \(network.discipline ?? "")"
    let trial =
      network.discipline == nil
      ? ["--mount", "--pid", "--fork", "--mount-proc", "/bin/true"]
      : ["--mount", "--net", "/bin/sh", "-c", script]
    guard var child = try? ChildProcess(MountNamespace.program, trial, log: "/dev/null"),
      await child.finish()
    else { return network.discipline.map { "no tc \($0)" } ?? "no namespaces" }
    return nil
  }
}
