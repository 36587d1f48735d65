/// What happens when the retained output reaches its cap and no client has committed it.
public enum WhenFull: String, Sendable, CaseIterable {
  /// The program waits in its write.
  case wait
  /// The oldest output is dropped and becomes a gap.
  case drop
}

/// The program of a session, fixed before the first attempt to start it.
public struct SessionSpec: Sendable, Equatable {
  /// The session's id.
  public var session: SessionID
  /// The command for the user's shell; nil for a login shell.
  public var command: [UInt8]?
  /// The terminal type (TERM) of a program on a terminal; nil for pipes.
  public var terminal: [UInt8]?
  /// The size of that terminal.
  public var size = WindowSize(columns: 80, rows: 24)
  /// Modes of that terminal as in RFC 4254, 8: opcode (1) and argument (4), in turn.
  public var modes: [UInt8] = []
  /// Variables added to the environment, as NAME=VALUE.
  public var environment: [[UInt8]] = []
  /// A name for people, of at most `longestName` bytes.
  public var name: [UInt8]?
  /// The longest name that is given, in bytes.
  public static let longestName = 128
  /// Whether it is declined while another session of its name runs.
  public var isOnlyOfItsName = false
  /// Retained output in bytes; nil for the default of the kind.
  public var cap: UInt64?
  /// What happens at the cap; nil for the default of the kind.
  public var whenFull: WhenFull?
  /// How long the program goes on while no client is attached, in seconds; nil without an end. It
  /// is hung up then.
  public var keep: UInt64?

  /// A login shell on pipes.
  public init(session: SessionID) { self.session = session }

  /// How the program is connected.
  public var kind: ProgramKind { terminal == nil ? .pipes : .terminal }

  /// Reads the payload of a start frame or a spec file.
  public init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    session = try fields.required("session", fields.identifier("session"))
    command = try fields.bytes("command")
    terminal = try fields.bytes("terminal")
    size = try fields.size("size") ?? size
    modes = try fields.bytes("modes") ?? []
    environment = fields.list("environment")
    name = try fields.bytes("name")
    isOnlyOfItsName = try fields.bytes("only") != nil
    cap = try fields.offset("cap")
    whenFull = try fields.choice("full")
    keep = try fields.offset("keep")
    guard modes.count.isMultiple(of: 5) else { throw .malformedFields("modes") }
    let texts = [command, terminal, name].compactMap { $0 } + environment
    guard !texts.contains(where: { $0.contains(0) }) else { throw .malformedFields("zero byte") }
    guard environment.allSatisfy({ $0.firstIndex(of: UInt8(ascii: "=")) ?? 0 > 0 }) else {
      throw .malformedFields("environment")
    }
  }

  /// The payload of a start frame; equal for equal specifications.
  public var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("session", bytes: session.bytes)
    fields.add("command", bytes: command)
    fields.add("terminal", bytes: terminal)
    if terminal != nil { fields.add("size", bytes: size.bytes) }
    if !modes.isEmpty { fields.add("modes", bytes: modes) }
    for variable in environment { fields.add("environment", bytes: variable) }
    fields.add("name", bytes: name)
    if isOnlyOfItsName { fields.add("only", bytes: []) }
    fields.add("cap", number: cap)
    fields.add("full", text: whenFull?.rawValue)
    fields.add("keep", number: keep)
    return fields.bytes
  }
}

/// One session as `start`, `list`, `wait` and `kill` answer it.
public struct SessionStatus: Sendable, Equatable {
  /// What is known of a session from its files.
  public enum State: String, Sendable, CaseIterable {
    /// The id is taken and the program was not started.
    case claimed
    /// The keeper lives.
    case running
    /// The end is recorded.
    case ended
    /// The keeper died before the end was recorded.
    case keeperDied = "keeper-died"
    /// The machine was restarted before the end was recorded.
    case rebooted
  }

  /// What is only in the memory of the keeper of a running session, because the disk is full.
  public enum Memory: String, Sendable, CaseIterable {
    /// The newest output.
    case output
    /// The newest output, and how the program has ended.
    case end
  }

  /// The session's id.
  public var session: SessionID
  /// What is known of it.
  public var state: State
  /// What the disk did not take; nil where it has everything.
  public var memory: Memory?
  /// How the program is connected.
  public var kind = ProgramKind.pipes
  /// Its name for people.
  public var name: [UInt8]?
  /// Its command; nil for a login shell.
  public var command: [UInt8]?
  /// So much of a command is shown, in bytes.
  public static let longestCommand = 4096
  /// The program's process id, where it was started.
  public var process: UInt64?
  /// How it ended, where that is recorded.
  public var end: ProgramEnd?
  /// The oldest output that is kept.
  public var oldest: UInt64 = 0
  /// The end of the output.
  public var newest: UInt64 = 0
  /// All output below was committed.
  public var committed: UInt64 = 0
  /// Attachments now.
  public var attached: UInt64 = 0
  /// Seconds since 1970.
  public var startedAt: UInt64 = 0
  /// Seconds since 1970; nil where no end is recorded.
  public var endedAt: UInt64?
  /// When the program is hung up unless a client attaches, in seconds since 1970; nil where it goes
  /// on without one, or has one.
  public var hangsUpAt: UInt64?
  /// What the host's clock said, in seconds since 1970: the times above are of that clock. Nil
  /// from an earlier version.
  public var now: UInt64?
  /// "yes", or why the session ends at logout and the command that changes it, or why that is not
  /// known.
  public var survivesLogout = ""
  /// The machine that it runs on; nil where it is this host.
  public var node: String?
  /// Whether the program waits for a reader: the output that is kept has reached its limit.
  public var waitsForReader = false

  /// The state of a session.
  public init(session: SessionID, state: State) {
    self.session = session
    self.state = state
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    session = try fields.required("session", fields.identifier("session"))
    state = try fields.required("state", fields.choice("state"))
    kind = try fields.choice("kind") ?? .pipes
    name = try fields.bytes("name")
    command = try fields.bytes("command")
    process = try fields.number("process")
    if let bytes = try fields.bytes("end") { end = try ProgramEnd(bytes[...]) }
    oldest = try fields.offset("oldest") ?? 0
    newest = try fields.offset("newest") ?? 0
    committed = try fields.offset("committed") ?? 0
    attached = try fields.number("attached") ?? 0
    startedAt = try fields.number("started") ?? 0
    endedAt = try fields.number("finished")
    hangsUpAt = try fields.number("hangup")
    now = try fields.number("now")
    survivesLogout = try fields.text("logout") ?? ""
    memory = try fields.text("memory").flatMap(Memory.init)
    node = try fields.text("node")
    waitsForReader = try fields.bytes("waits") != nil
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("session", bytes: session.bytes)
    fields.add("state", text: state.rawValue)
    fields.add("kind", text: kind.rawValue)
    fields.add("name", bytes: name)
    fields.add("command", bytes: command)
    fields.add("process", number: process)
    fields.add("end", bytes: end?.payload)
    fields.add("oldest", number: oldest)
    fields.add("newest", number: newest)
    fields.add("committed", number: committed)
    fields.add("attached", number: attached)
    fields.add("started", number: startedAt)
    fields.add("finished", number: endedAt)
    fields.add("hangup", number: hangsUpAt)
    fields.add("now", number: now)
    fields.add("logout", text: survivesLogout.isEmpty ? nil : survivesLogout)
    fields.add("memory", text: memory?.rawValue)
    fields.add("node", text: node)
    if waitsForReader { fields.add("waits", bytes: []) }
    return fields.bytes
  }
}
