import BridgeSessionProtocol

/// The program of a session: its process and the keeper's ends of its terminal or pipes.
final class KeptProgram {
  let process: Int32
  private let terminal: Terminal?
  /// Where output comes from; removed at its end.
  private(set) var outputs: [ProgramOutput]
  private(set) var input: Channel?
  /// Input that was accepted and not written yet, at most a window.
  private var pending: [UInt8] = []
  private var head = 0
  /// Bytes since the last one that ends a line in a terminal's line mode.
  private var lineLength = 0
  /// True once the terminal dropped input of a line that was too long.
  private(set) var hasLongLine = false
  /// The leader has ended, and its number is free.
  var isReaped = false

  /// What the kernel keeps of a line in a terminal's line mode.
  static let longestLine = 4095
  private static let lineEnds: Set<UInt8> = [0x04, 0x0A, 0x0D]

  /// Starts the program of `spec`.
  ///
  /// - Throws: when it could not be executed; then no process is left.
  init(_ spec: SessionSpec, place: String?) throws(SystemError) {
    let environment = ProgramEnvironment(spec, place: place)
    if let type = spec.terminal {
      let size = spec.size
      let terminal = try Terminal(
        columns: size.columns, rows: size.rows, width: size.width, height: size.height,
        modes: spec.modes)
      process = try Programs.spawn(
        environment.shell, environment.arguments,
        environment: environment.variables
          + [Array("TERM=".utf8) + type, Array("SSH_TTY=\(terminal.device)".utf8)],
        directory: environment.directory, terminal: terminal.device)
      self.terminal = terminal
      let channel = Channel(terminal.master, .own)
      outputs = [ProgramOutput(.terminal, channel)]
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
      ProgramOutput(.standardOutput, Channel(output.reader, .own)),
      ProgramOutput(.standardError, Channel(errors.reader, .own)),
    ]
    self.input = Channel(input.writer, .own)
  }

  var hasPendingInput: Bool { head < pending.count && input != nil }
  var isTerminal: Bool { terminal != nil }

  /// What the program printed on `stream`; nothing where that has ended.
  func read(_ stream: ProgramStream) -> Channel.Input {
    guard let index = outputs.firstIndex(where: { $0.stream == stream }) else { return .nothing }
    return outputs[index].read()
  }

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
        if terminal != nil { measureLines(pending[head..<(head + count)]) }
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

  private func measureLines(_ bytes: ArraySlice<UInt8>) {
    let rest = bytes.lastIndex { Self.lineEnds.contains($0) }
    lineLength = rest.map { bytes.endIndex - $0 - 1 } ?? lineLength + bytes.count
    if lineLength > Self.longestLine, !hasLongLine, terminal?.isInLineMode == true {
      hasLongLine = true
    }
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

  func resize(_ size: WindowSize) {
    terminal?.resize(
      columns: size.columns, rows: size.rows, width: size.width, height: size.height)
  }

  /// Signals the foreground process group, of pipes the program's own.
  func signal(_ signal: SessionSignal) {
    if let group = terminal?.foreground, send(signal, to: [group]) { return }
    send(signal, to: [process])
  }

  /// Signals every process group that is known: the leader's and the foreground one.
  func signalAll(_ signal: SessionSignal) {
    send(signal, to: Set([process] + [terminal?.foreground].compactMap { $0 }))
  }

  /// Signals groups; false where none of them has a process. The number of such a group may be
  /// another's by now. Where the leader has ended the processes that hold its output open are
  /// signaled, too: the session ends with them.
  @discardableResult
  private func send(_ signal: SessionSignal, to groups: Set<Int32>) -> Bool {
    let number = SessionSignalNumber.number(signal.rawValue)
    let own = isReaped ? nil : process
    let tree = groups == [own] ? nil : ProcessTree()
    let found = groups.filter { $0 == own || tree?.hasMember(of: $0) == true }
    for group in found { Programs.signalGroup(group, number) }
    guard isReaped, let tree else { return !found.isEmpty }
    let holders = tree.holders(of: outputs.map(\.channel.descriptor)).filter {
      !groups.contains($0.group)
    }
    for holder in holders { Programs.signal(process: holder.process, number) }
    return !found.isEmpty || !holders.isEmpty
  }
}

/// Where output of a program comes from.
struct ProgramOutput {
  let stream: ProgramStream
  let channel: Channel
  private var size = ReadSize(last: Journal.longestAppend)

  init(_ stream: ProgramStream, _ channel: Channel) {
    self.stream = stream
    self.channel = channel
  }

  /// What is there. A program that fills its pipe is given a wider one.
  mutating func read() -> Channel.Input {
    let input = channel.read(size.next)
    if case .bytes(let bytes) = input, size.took(bytes.count) { channel.descriptor.widen() }
    return input
  }
}

/// The shell, its arguments and environment, as sshd would choose them.
struct ProgramEnvironment {
  let shell: String
  let arguments: [[UInt8]]
  let variables: [[UInt8]]
  /// Where it begins, with a zero byte.
  let directory: [CChar]

  /// - Parameter place: the session's directory.
  init(_ spec: SessionSpec, place: String?) {
    let shells = [
      Programs.variable("BRIDGE_SHELL"), AccountFile.shell, Programs.variable("SHELL"),
    ]
    shell = shells.compactMap(\.self).first { $0.hasPrefix("/") } ?? "/bin/sh"
    let name = Array((shell.split(separator: "/").last.map(String.init) ?? "sh").utf8)
    if let command = spec.command {
      arguments = [name, Array("-c".utf8), command]
    } else {
      // The hyphen makes it a login shell.
      arguments = [[UInt8(ascii: "-")] + name]
    }
    let own = spec.environment + (spec.terminal == nil ? [] : [Array("TERM=".utf8)])
    let session = Self.variables(of: spec.session, place)
    let asked = Set(own.map(Self.name(of:)))
    let added = session.filter { !asked.contains(Self.name(of: $0)) } + spec.environment
    let replaced = asked.union(session.map(Self.name(of:)))
    variables =
      Programs.environment.filter { !replaced.contains(Self.name(of: $0)) } + added
    let home = Programs.home ?? []
    directory = Programs.mayEnter(home) ? home : [47, 0]
  }

  /// What programs find of their session: its id, the environment file, and a path for the agent
  /// that stays while the agents of its clients come and go.
  private static func variables(of session: SessionID, _ place: String?) -> [[UInt8]] {
    var variables = ["BRIDGE_SESSION=\(session)"]
    if let place {
      variables.append("BRIDGE_SESSION_ENV=\(place)/\(EnvironmentFile.name)")
      // Where the login has no agent, start-up files may begin one of their own.
      if Programs.agent != nil {
        variables.append("SSH_AUTH_SOCK=\(SessionFiles.agentPath(of: session, in: place))")
      }
    }
    return variables.map { Array($0.utf8) }
  }

  private static func name(of variable: [UInt8]) -> [UInt8] {
    Array(variable.prefix { $0 != UInt8(ascii: "=") })
  }
}
