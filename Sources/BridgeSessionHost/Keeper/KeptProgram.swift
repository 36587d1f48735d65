import BridgeSessionProtocol

/// The program of a session: its process and the keeper's ends of its terminal or pipes.
final class KeptProgram {
  let process: Int32
  private let terminal: Terminal?
  /// Where output comes from; removed at its end.
  private(set) var outputs: [(stream: ProgramStream, channel: Channel)]
  private(set) var input: Channel?
  /// Input that was accepted and not written yet, at most a window.
  private var pending: [UInt8] = []
  private var head = 0
  private var closesInput = false

  /// Starts the program of `spec`.
  ///
  /// - Throws: when it could not be executed; then no process is left.
  init(_ spec: SessionSpec) throws(SystemError) {
    let environment = ProgramEnvironment(spec)
    if let type = spec.terminal {
      let size = spec.size
      let terminal = try Terminal(
        columns: size.columns, rows: size.rows, width: size.width, height: size.height,
        modes: spec.modes)
      process = try Programs.spawn(
        environment.shell, environment.arguments,
        environment: environment.variables + [Array("TERM=".utf8) + type],
        directory: environment.directory, terminal: terminal.device)
      self.terminal = terminal
      let channel = Channel(terminal.master, isSocket: false)
      outputs = [(.terminal, channel)]
      input = channel
      return
    }
    let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
    for end in [input.writer, output.reader, errors.reader] { try end.setNonblocking() }
    process = try Programs.spawn(
      environment.shell, environment.arguments, environment: environment.variables,
      directory: environment.directory,
      descriptors: [input.reader.number, output.writer.number, errors.writer.number])
    terminal = nil
    outputs = [
      (.standardOutput, Channel(output.reader, isSocket: false)),
      (.standardError, Channel(errors.reader, isSocket: false)),
    ]
    self.input = Channel(input.writer, isSocket: false)
  }

  var hasPendingInput: Bool { head < pending.count && input != nil }
  var isTerminal: Bool { terminal != nil }

  func closeOutput(_ stream: ProgramStream) { outputs.removeAll { $0.stream == stream } }
  func closeOutputs() { outputs = [] }

  func queueInput(_ bytes: [UInt8]) {
    guard input != nil else { return }
    if head > 0 {
      pending.removeFirst(head)
      head = 0
    }
    pending += bytes
  }

  /// Writes input that fits now; nil when the program has closed it.
  func writeInput() -> Int? {
    guard let input else { return 0 }
    var written = 0
    while head < pending.count {
      switch input.write(pending, from: head) {
      case .wrote(let count):
        head += count
        written += count
      case .nothing: return written
      case .closed:
        forgetInput()
        return nil
      }
    }
    pending = []
    head = 0
    return written
  }

  /// Types an answer of the keeper's own, which is no client's input; dropped where it would come
  /// between bytes of a client.
  func answer(_ bytes: [UInt8]) {
    if isTerminal, !hasPendingInput { _ = input?.write(bytes, from: 0) }
  }

  /// Closes standard input; a terminal has no end of input.
  func closeInput() {
    if terminal == nil { forgetInput() }
  }

  func forgetInput() {
    input = nil
    pending = []
    head = 0
  }

  func resize(_ size: TerminalSize) {
    terminal?.resize(
      columns: size.columns, rows: size.rows, width: size.width, height: size.height)
  }

  /// Signals the foreground process group, of pipes the program's own.
  func signal(_ signal: SessionSignal) {
    let number = SessionSignalNumber.number(signal.rawValue)
    if let group = terminal?.foreground, Programs.signalGroup(group, number) { return }
    Programs.signalGroup(process, number)
  }

  /// Signals every process group that is known: the leader's and the foreground one.
  func signalAll(_ signal: SessionSignal) {
    let number = SessionSignalNumber.number(signal.rawValue)
    let groups = Set([process] + [terminal?.foreground].compactMap { $0 })
    for group in groups { Programs.signalGroup(group, number) }
  }
}

/// The shell, its arguments and environment, as sshd would choose them.
struct ProgramEnvironment {
  let shell: String
  let arguments: [[UInt8]]
  let variables: [[UInt8]]
  let directory: String?

  init(_ spec: SessionSpec) {
    let path = Programs.variable("SHELL") ?? ""
    shell = path.hasPrefix("/") ? path : "/bin/sh"
    let name = Array((shell.split(separator: "/").last.map(String.init) ?? "sh").utf8)
    if let command = spec.command {
      arguments = [name, Array("-c".utf8), command]
    } else {
      // The hyphen makes it a login shell.
      arguments = [[UInt8(ascii: "-")] + name]
    }
    let own = spec.environment + (spec.terminal == nil ? [] : [Array("TERM=".utf8)])
    let replaced = Set(own.map(Self.name(of:)))
    variables =
      Programs.environment.filter { !replaced.contains(Self.name(of: $0)) }
      + spec.environment
    let home = Programs.variable("HOME") ?? "/"
    directory = (try? Directory(home, follows: true)) == nil ? "/" : home
  }

  private static func name(of variable: [UInt8]) -> [UInt8] {
    Array(variable.prefix { $0 != UInt8(ascii: "=") })
  }
}
