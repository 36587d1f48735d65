/// The answer to hello.
public struct Welcome: Sendable, Equatable {
  /// The protocol version of this attachment.
  public var version: UInt8 = 1
  /// The session that answers.
  public var session: SessionID
  /// Random for each run of a session: offsets of another run mean other bytes.
  public var epoch: UInt64
  /// True when the program has ended.
  public var hasEnded = false
  /// How the program is connected.
  public var kind = ProgramKind.pipes
  /// What this attachment may do; a viewer where another client writes.
  public var role = Role.writer
  /// The client that writes; nil where none does.
  public var writer: ClientID?
  /// The address that the login of another client came from that writes; nil where none does, or
  /// where it is not known.
  public var writerAddress: String?
  /// For how long that one is attached, in seconds.
  public var writerAge: UInt64?
  /// The oldest output that is kept.
  public var oldest: UInt64 = 0
  /// The end of the output so far: what comes below it was printed before this attachment.
  public var newest: UInt64 = 0
  /// The offset at which output begins.
  public var resume: UInt64 = 0
  /// Escape sequences that bring a terminal into the state it had at `resume`.
  public var modes: [UInt8] = []
  /// The size of the session's terminal; nil where it is not known, or was not asked for.
  public var size: WindowSize?
  /// All input below was written to the program.
  public var inputTaken: UInt64 = 0
  /// All input below was received and will be written; the next byte of input has this offset.
  public var inputAccepted: UInt64 = 0
  /// The number of the last control that was done.
  public var lastControl: UInt64 = 0
  /// Counts the clients that became writer: the numbering of input is one client's within a lease.
  public var lease: UInt64 = 0
  /// Where the lease of hello has ended: all input of that lease below was accepted.
  public var ownAccepted: UInt64?
  /// Where input ends; nil while it has no end.
  public var inputEnd: UInt64?
  /// True when the program has closed its standard input.
  public var inputIsClosed = false
  /// "yes", or why the session ends at logout and the command that changes it.
  public var survivesLogout = ""

  /// A welcome to the run `epoch` of a session.
  public init(session: SessionID, epoch: UInt64) {
    self.session = session
    self.epoch = epoch
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    session = try fields.required("session", fields.identifier("session"))
    epoch = try fields.required("epoch", fields.number("epoch"))
    let versions = try fields.required("version", fields.bytes("version"))
    guard versions.count == 1 else { throw .malformedFields("version") }
    version = versions[0]
    hasEnded = try fields.bytes("ended") != nil
    kind = try fields.required("kind", fields.choice("kind"))
    role = try fields.required("role", fields.choice("role"))
    writer = try fields.identifier("writer")
    writerAddress = try fields.text("writer-from")
    writerAge = try fields.number("writer-age")
    oldest = try fields.required("oldest", fields.offset("oldest"))
    newest = try fields.required("newest", fields.offset("newest"))
    resume = try fields.required("resume", fields.offset("resume"))
    modes = try fields.bytes("modes") ?? []
    size = try fields.size("size")
    inputTaken = try fields.required("taken", fields.offset("taken"))
    inputAccepted = try fields.required("accepted", fields.offset("accepted"))
    lastControl = try fields.required("control", fields.offset("control"))
    lease = try fields.required("lease", fields.offset("lease"))
    ownAccepted = try fields.offset("own")
    inputEnd = try fields.offset("input-end")
    inputIsClosed = try fields.bytes("input-closed") != nil
    survivesLogout = try fields.text("logout") ?? ""
    guard oldest <= newest, resume <= newest else { throw .malformedFields("newest") }
    guard inputTaken <= inputAccepted else { throw .malformedFields("accepted") }
    guard ownAccepted ?? 0 <= inputAccepted else { throw .malformedFields("own") }
  }

  /// The client that writes, as people know it: its id, and where it came from; nil for none.
  public var writerName: String? {
    writer.map { id in writerAddress.map { "\(id) from \($0)" } ?? "\(id)" }
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("version", bytes: [version])
    fields.add("session", bytes: session.bytes)
    fields.add("epoch", number: epoch)
    if hasEnded { fields.add("ended", bytes: []) }
    fields.add("kind", text: kind.rawValue)
    fields.add("role", text: role.rawValue)
    fields.add("writer", bytes: writer?.bytes)
    fields.add("writer-from", text: writerAddress)
    fields.add("writer-age", number: writerAge)
    fields.add("oldest", number: oldest)
    fields.add("newest", number: newest)
    fields.add("resume", number: resume)
    if !modes.isEmpty { fields.add("modes", bytes: modes) }
    fields.add("size", bytes: size?.bytes)
    fields.add("taken", number: inputTaken)
    fields.add("accepted", number: inputAccepted)
    fields.add("control", number: lastControl)
    fields.add("lease", number: lease)
    fields.add("own", number: ownAccepted)
    fields.add("input-end", number: inputEnd)
    if inputIsClosed { fields.add("input-closed", bytes: []) }
    fields.add("logout", text: survivesLogout.isEmpty ? nil : survivesLogout)
    return fields.bytes
  }
}

/// How a program is connected to its keeper.
public enum ProgramKind: String, Sendable, CaseIterable {
  /// Through a terminal of its own.
  case terminal
  /// Through pipes: standard output and standard error stay apart.
  case pipes
}
