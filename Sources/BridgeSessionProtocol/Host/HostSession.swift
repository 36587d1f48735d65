/// The host's end of a session: a state machine without clock, descriptors or bytes of the journal.
///
/// It accounts for offsets, windows, the writer and the end. The keeper feeds it frames and facts,
/// executes the effects it returns, and pulls output with `nextOutput` as each client reads it.
public struct HostSession: Sendable {
  /// A number for each attachment, chosen by the keeper, never used twice.
  public typealias AttachmentID = UInt32

  /// What is fixed when a session starts.
  public struct Configuration: Sendable, Equatable {
    /// The session's id.
    public var session: SessionID
    /// Random for each run of the session.
    public var epoch: UInt64
    /// How the program is connected.
    public var kind: ProgramKind
    /// Retained output in bytes.
    public var cap: UInt64
    /// What happens at the cap.
    public var whenFull: WhenFull
    /// "yes", or why the session ends at logout.
    public var survivesLogout = ""

    /// A configuration with the defaults of the kind of program.
    public init(
      session: SessionID, epoch: UInt64, kind: ProgramKind, cap: UInt64? = nil,
      whenFull: WhenFull? = nil
    ) {
      self.session = session
      self.epoch = epoch
      self.kind = kind
      let isTerminal = kind == .terminal
      self.cap = cap ?? (isTerminal ? Limits.terminalCap : Limits.pipesCap)
      self.whenFull = whenFull ?? (isTerminal ? .drop : .wait)
    }
  }

  /// What the keeper must do, in order.
  public enum Effect: Sendable, Equatable {
    /// Send a frame.
    case send(AttachmentID, Frame)
    /// End an attachment once its frames were sent.
    case end(AttachmentID, AttachmentEnd)
    /// Write bytes to the program's input after those before.
    case writeInput([UInt8])
    /// Close the program's standard input: all its input was written.
    case closeInput
    /// Set the size of the terminal.
    case resize(WindowSize)
    /// Signal the program.
    case signal(SessionSignal)
    /// Remove the session: it ended and its client has committed everything.
    case discard
  }

  /// Why an attachment ends.
  public enum AttachmentEnd: Sendable, Equatable {
    /// The client requested it.
    case detached
    /// The client requested it after the program's end.
    case closed
    /// Another attachment became the writer.
    case replaced
    /// Declined before output began.
    case declined(Refusal.Code)
    /// The client broke the protocol.
    case violated(ProtocolError)
  }

  /// What a hello waits for.
  enum Waiting: Sendable {
    /// The answer of its own client to a ping: bytes of a link that was given up may come late.
    case client(Hello)
    /// A sign of life of the writer, in whose place its client wants to write.
    case writer(Hello, AttachmentID, until: Milliseconds)
    /// Signs of life of all attached clients: no slot is free, but a dead one has one.
    case slot(Hello, until: Milliseconds)
    /// Nothing more.
    case nothing(Hello)

    var hello: Hello {
      switch self {
      case .client(let hello), .writer(let hello, _, _), .slot(let hello, _), .nothing(let hello):
        hello
      }
    }
  }

  struct Attachment: Sendable {
    /// In the order in which the hellos arrived.
    var number: UInt64 = 0
    var client: ClientID?
    /// The address that its login came from; nil where that is not known.
    var address: String?
    /// When its hello was answered.
    var since: Milliseconds = 0
    /// A hello that is not answered yet, and why.
    var waiting: Waiting?
    /// Whether its client answers pings.
    var answersPings = false
    /// Its client was asked for a sign of life, and has sent nothing since.
    var isSilent = false
    var role = Role.viewer
    /// The next output offset to send.
    var cursor: UInt64 = 0
    var lag = OutputLag()
    /// Output beyond the acknowledged one that may be sent.
    var window = Limits.window
    var endWasSent = false
    /// The end of the output when its hello was answered.
    var live: UInt64 = 0
    /// Whether the screen may stand for output that it would take long to send.
    var catchesUp = false
    var omitted = OmittedOutput()
    /// The bytes that were acknowledged, without those left out.
    var taken: UInt64 = 0
    var pace = SendingPace()
    /// Sizes that it is to be sent; nil where it does not follow them.
    var sizes: TerminalSizes?

    var isAttached: Bool { client != nil }
    var acknowledged: UInt64 { lag.acknowledged }
    /// The bytes that are under way.
    var underWay: UInt64 { cursor - acknowledged - omitted.count(from: acknowledged) }
    /// How many may be.
    var space: UInt64 {
      let most = catchesUp ? pace.window(of: window) : window
      return most - min(most, underWay)
    }
  }

  /// What was fixed at the start.
  public let configuration: Configuration
  /// Where a client without a resume point begins that asks for the screen only.
  public var replayPoint = ReplayPoint()

  /// The size of the terminal; nil where it is not known.
  public var size: WindowSize?
  /// The oldest output that is kept.
  public internal(set) var oldest: UInt64 = 0
  /// The end of the output.
  public internal(set) var newest: UInt64 = 0
  /// All output below was committed by the writer.
  public internal(set) var committed: UInt64 = 0
  /// All input below was received and will be written.
  public internal(set) var inputAccepted: UInt64 = 0
  /// All input below was written to the program.
  public internal(set) var inputTaken: UInt64 = 0
  /// The end of the output when the user typed last: an answer lies behind it.
  var typedAt: UInt64 = 0
  /// How fast the last writer took output, for its next attachment.
  var writersPace = SendingPace()
  /// Where input ends; nil while it has no end.
  public internal(set) var inputEnd: UInt64?
  /// The number of the last control that was done.
  public internal(set) var lastControl: UInt64 = 0
  /// Counts the clients that became writer.
  public internal(set) var lease: UInt64 = 0
  /// Where the output that is kept ends, for an ended session whose last output was lost with its
  /// keeper or machine; nil where it ends at `newest`.
  public var keptEnd: UInt64?
  /// How the program ended, once its output is complete.
  public internal(set) var ending: ProgramEnd?

  /// The highest fencing number of a writer: a lower one is that of a host whose lease has ended.
  var fence: UInt64 = 0
  var attachments: [AttachmentID: Attachment] = [:]
  var lastHello: UInt64 = 0
  var leaseHolder: ClientID?
  var writer: AttachmentID?
  var endedLeases: [EndedLease] = []
  /// Clients from which another one took the session over, whether they know it or not.
  var displacedWriters: [ClientID] = []
  /// True once the program closed its standard input.
  var inputIsClosed = false
  var acknowledgedInput: UInt64 = 0
  var acknowledgedControl: UInt64 = 0
  /// When the oldest fact that is not acknowledged yet arose.
  var acknowledgementSince: Milliseconds?

  /// A session whose program has printed nothing yet.
  public init(_ configuration: Configuration) { self.configuration = configuration }

  /// A session whose program has ended: its journal keeps output from `oldest` to `newest`.
  public init(
    ended ending: ProgramEnd, _ configuration: Configuration, oldest: UInt64, newest: UInt64,
    committed: UInt64, input: InputRecord
  ) {
    self.configuration = configuration
    self.ending = ending
    self.oldest = oldest
    self.newest = newest
    self.committed = min(committed, newest)
    inputTaken = input.taken
    inputAccepted = input.taken
    lastControl = input.lastControl
    lease = input.lease
    leaseHolder = input.holder
    endedLeases = input.endedLeases.suffix(Limits.endedLeases)
  }

  /// What a tombstone keeps of input and controls.
  public var inputRecord: InputRecord {
    var record = InputRecord(
      taken: inputTaken, lastControl: lastControl, lease: lease, holder: leaseHolder)
    record.endedLeases = endedLeases
    return record
  }

  /// Attachments that were welcomed.
  public var attachedCount: Int { attachments.values.count { $0.isAttached } }
  /// True once an attachment was welcomed, until it ends.
  public func isAttached(_ id: AttachmentID) -> Bool { attachments[id]?.isAttached == true }
  /// True for the attachment that may write.
  public func isWriter(_ id: AttachmentID) -> Bool { writer == id }
  /// The client of an attachment that was welcomed.
  public func client(of id: AttachmentID) -> ClientID? { attachments[id]?.client }
  /// The client that is the writer now.
  public var writingClient: ClientID? { writer.flatMap { attachments[$0]?.client } }

  /// Registers a connection that has not sent its hello. Beyond as many as may attach, the oldest
  /// without a hello goes, so that lost ones do not keep a client out. `address` is where the login
  /// came from, for people.
  public mutating func connect(_ id: AttachmentID, from address: String? = nil) -> [Effect] {
    defer { attachments[id] = Attachment(address: address) }
    let new = attachments.filter { !$0.value.isAttached }.keys
    guard new.count >= Limits.attachments, let oldest = new.min() else { return [] }
    attachments[oldest] = nil
    let refusal = Refusal(.limit, "\(Limits.attachments) connections to this session wait already.")
    return [.send(oldest, .refused(refusal)), .end(oldest, .declined(.limit))]
  }

  /// Removes an attachment whose connection ended. The program and its input stay as they are.
  public mutating func disconnect(_ id: AttachmentID) {
    attachments[id] = nil
    if writer == id { writer = nil }
    settleWaiting(for: id)
  }

  /// Takes a frame of an attachment in. A violation ends that attachment and nothing else.
  public mutating func receive(
    _ frame: Frame, from id: AttachmentID, at now: Milliseconds
  ) -> [Effect] {
    guard let attachment = attachments[id] else { return [] }
    attachments[id]?.isSilent = false
    if id == writer { settleWaiting(for: id) }
    do throws(ProtocolError) {
      guard attachment.isAttached else {
        return try receiveGreeting(frame, from: id, at: now)
      }
      return try receiveAttached(frame, from: id, at: now)
    } catch {
      return violate(error, by: id)
    }
  }

  /// Ends an attachment whose bytes were no frames.
  public mutating func violate(_ error: ProtocolError, by id: AttachmentID) -> [Effect] {
    guard attachments[id] != nil else { return [] }
    disconnect(id)
    let refusal = Refusal(.violation, "Protocol violation: \(error).")
    return [.send(id, .refused(refusal)), .end(id, .violated(error))]
  }

  private mutating func receiveAttached(
    _ frame: Frame, from id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    switch frame {
    case .input(let offset, let bytes):
      try requireWriter(id)
      if TypedKeys.mayBe(bytes) { typedAt = newest }
      return try acceptInput(bytes, at: offset)
    case .acknowledge(let through, let settled):
      return try acknowledge(through, committed: settled, by: id, at: now)
    case .control(let number, let control):
      return try perform(control, number: number, by: id, at: now)
    case .ping(let value): return [.send(id, .pong(value))]
    case .pong: return []
    case .hello, .welcome, .refused, .output, .gap, .ended, .start, .status, .notice, .screen,
      .size:
      throw .unexpectedFrame(type: frame.type.rawValue)
    }
  }

  /// Whether an attachment is one whose client answers pings.
  public func answersPings(_ id: AttachmentID) -> Bool {
    attachments[id].map { $0.isAttached && $0.answersPings } ?? false
  }

  func requireWriter(_ id: AttachmentID) throws(ProtocolError) {
    guard writer == id else { throw .notWriter }
  }
}

/// The progress of a lease: its client receives it when it returns.
public struct EndedLease: Sendable, Equatable {
  /// The number of the lease.
  public var lease: UInt64
  /// The client that held it.
  public var client: ClientID
  /// All input below was accepted.
  public var accepted: UInt64

  /// A lease that came this far.
  public init(lease: UInt64, client: ClientID, accepted: UInt64) {
    self.lease = lease
    self.client = client
    self.accepted = accepted
  }
}

/// What of input and controls outlives the keeper.
public struct InputRecord: Sendable, Equatable {
  /// All input below was written to the program.
  public var taken: UInt64 = 0
  /// The number of the last control that was done.
  public var lastControl: UInt64 = 0
  /// Counts the clients that became writer.
  public var lease: UInt64 = 0
  /// The last client that was the writer.
  public var holder: ClientID?
  /// How far earlier leases came, the newest last.
  public var endedLeases: [EndedLease] = []

  /// The record of a session that received nothing.
  public init() {}

  /// A record of these values.
  public init(taken: UInt64, lastControl: UInt64, lease: UInt64, holder: ClientID?) {
    self.taken = taken
    self.lastControl = lastControl
    self.lease = lease
    self.holder = holder
  }
}

/// Where a terminal of its own begins to show a session.
public struct ReplayPoint: Sendable, Equatable {
  /// The first output offset.
  public var offset: UInt64 = 0
  /// Escape sequences for the state the terminal had there.
  public var modes: [UInt8] = []

  /// A point in the output.
  public init(offset: UInt64 = 0, modes: [UInt8] = []) {
    self.offset = offset
    self.modes = modes
  }
}
