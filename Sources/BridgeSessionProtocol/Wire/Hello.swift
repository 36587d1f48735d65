/// What an attachment may do.
public enum Role: String, Sendable, CaseIterable {
  /// Types, sets the size, commits.
  case writer
  /// Reads.
  case viewer
}

/// Where output begins for a client that has received none.
public enum Replay: String, Sendable, CaseIterable {
  /// At the first byte; what is no longer kept is a gap.
  case everything
  /// At the last clearing of the screen, or near the end: for a terminal of its own.
  case screen
}

/// The size of a terminal, in cells and (0 where unknown) in pixels.
public struct WindowSize: Sendable, Equatable {
  /// Cells in a row.
  public var columns: UInt16
  /// Rows.
  public var rows: UInt16
  /// Pixels across; 0 where unknown.
  public var width: UInt16
  /// Pixels down; 0 where unknown.
  public var height: UInt16

  /// A size in cells.
  public init(columns: UInt16, rows: UInt16, width: UInt16 = 0, height: UInt16 = 0) {
    self.columns = columns
    self.rows = rows
    self.width = width
    self.height = height
  }

  init?(bytes: some RandomAccessCollection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == 8 else { return nil }
    let parts = stride(from: 0, to: 8, by: 2).map { UInt16(bytes.bigEndian(at: $0, count: 2)) }
    self.init(columns: parts[0], rows: parts[1], width: parts[2], height: parts[3])
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for part in [columns, rows, width, height] { bytes.append(bigEndian: UInt64(part), count: 2) }
    return bytes
  }
}

/// What a client has received of a session, kept over its own restart.
public struct ResumePoint: Sendable, Hashable, Codable {
  /// The run of the session whose offsets these are.
  public var epoch: UInt64
  /// All output below was received.
  public var received: UInt64

  /// A point of the run `epoch`.
  public init(epoch: UInt64, received: UInt64) {
    self.epoch = epoch
    self.received = received
  }
}

/// The first frame of an attachment.
public struct Hello: Sendable, Equatable {
  /// Protocol versions the client speaks.
  public var versions: [UInt8] = Limits.versions
  /// The session to attach to.
  public var session: SessionID
  /// The client; the same over all its attachments.
  public var client: ClientID
  /// The requested mode.
  public var role = Role.writer
  /// True where it displaces a writer of another name.
  public var takes = false
  /// True where the client answers a ping before the welcome; one of an older version does not.
  public var answersPings = true
  /// What it has received; nil for a client that has received nothing.
  public var resume: ResumePoint?
  /// All output below was taken by the client's reader; at most what was received.
  public var acknowledged: UInt64 = 0
  /// All output below was committed by the application.
  public var committed: UInt64 = 0
  /// The fencing number of a writer that carries the session for others: a host of an agent, by the
  /// lease of its store. One with a higher number displaces it for good; nil for one without.
  public var fence: UInt64?
  /// The lease under which this client wrote last; nil for one that has written nothing.
  public var lease: UInt64?
  /// Output that may be unacknowledged, in bytes, from 1; nil for `Limits.window`.
  public var window: UInt64?
  /// Where output begins without `resume`.
  public var replay = Replay.everything
  /// The size of the client's terminal; nil where it has none.
  public var size: WindowSize?
  /// True where a terminal that is far behind gets the screen of now in place of what it missed.
  public var catchesUp = false
  /// True where the client wants to know the size of the session's terminal.
  public var followsSize = false
  /// All output below was shown by the client's terminal, which has those lines above its screen;
  /// nil where it was not attached before.
  public var shown: UInt64?
  /// Variables for the session's environment file, as NAME=VALUE.
  public var environment: [[UInt8]] = []

  /// A hello of a writer that has received nothing.
  public init(session: SessionID, client: ClientID) {
    self.session = session
    self.client = client
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    session = try fields.required("session", fields.identifier("session"))
    client = try fields.required("client", fields.identifier("client"))
    versions = try fields.required("versions", fields.bytes("versions"))
    role = try fields.choice("role") ?? .writer
    takes = try fields.bytes("take") != nil
    answersPings = try fields.bytes("pings") != nil
    replay = try fields.choice("replay") ?? .everything
    acknowledged = try fields.offset("acknowledged") ?? 0
    committed = try fields.offset("committed") ?? 0
    fence = try fields.offset("fence")
    lease = try fields.offset("lease")
    window = try fields.offset("window")
    size = try fields.size("size")
    catchesUp = try fields.bytes("catch-up") != nil
    followsSize = try fields.bytes("sizes") != nil
    shown = try fields.offset("shown")
    environment = fields.list("environment")
    let received = try fields.offset("received")
    if let epoch = try fields.number("epoch") {
      resume = ResumePoint(epoch: epoch, received: try fields.required("received", received))
    }
    guard acknowledged <= resume?.received ?? 0 else { throw .malformedFields("acknowledged") }
    guard window != 0 else { throw .malformedFields("window") }
    guard committed <= acknowledged else { throw .malformedFields("committed") }
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("versions", bytes: versions)
    fields.add("session", bytes: session.bytes)
    fields.add("client", bytes: client.bytes)
    fields.add("role", text: role.rawValue)
    if takes { fields.add("take", bytes: []) }
    if answersPings { fields.add("pings", bytes: []) }
    fields.add("replay", text: replay.rawValue)
    fields.add("epoch", number: resume?.epoch)
    fields.add("received", number: resume?.received)
    if resume != nil {
      fields.add("acknowledged", number: acknowledged)
      fields.add("committed", number: committed)
    }
    if catchesUp { fields.add("catch-up", bytes: []) }
    if followsSize { fields.add("sizes", bytes: []) }
    fields.add("shown", number: shown)
    fields.add("fence", number: fence)
    fields.add("lease", number: lease)
    fields.add("window", number: window)
    fields.add("size", bytes: size?.bytes)
    for variable in environment { fields.add("environment", bytes: variable) }
    return fields.bytes
  }
}

extension FieldReader {
  package func identifier(_ name: String) throws(ProtocolError) -> Identifier? {
    guard let value = try bytes(name) else { return nil }
    return try required(name, Identifier(bytes: value))
  }

  func size(_ name: String) throws(ProtocolError) -> WindowSize? {
    guard let value = try bytes(name) else { return nil }
    return try required(name, WindowSize(bytes: value))
  }

  /// One of the names of an enumeration.
  package func choice<Value: RawRepresentable<String>>(
    _ name: String
  ) throws(ProtocolError) -> Value? {
    guard let value = try text(name) else { return nil }
    return try required(name, Value(rawValue: value))
  }
}
