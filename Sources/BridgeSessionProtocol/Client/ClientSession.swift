/// The client's end of a session: a state machine without clock or descriptors.
///
/// One value lives as long as the client and sees many attachments. Each new byte channel is
/// announced by `connect`, its loss by `disconnect`; frames go in by `receive` and out by
/// `nextFrame`. Output comes out once and in order, with gaps in place; input is kept until the
/// host has taken it, and sent again from the offset in the host's welcome.
public struct ClientSession: Sendable {
  /// The client, the session and the mode of the attachment.
  public struct Configuration: Sendable, Equatable {
    /// The session to attach to.
    public var session: SessionID
    /// The client; the same over all attachments.
    public var client: ClientID
    /// The requested mode.
    public var role = Role.writer
    /// True where the first attachment displaces another writer; later ones never do.
    public var takes = false
    /// The fencing number of a client that writes for others, which share the session: one with a
    /// higher number displaces it for good. Below 2^63; nil for one that writes for itself.
    public var fence: UInt64?
    /// Where output begins for a client that has received none.
    public var replay = Replay.everything
    /// The size of the client's terminal; nil where it has none.
    public var size: WindowSize?
    /// Whether a terminal that is far behind gets the screen of now in place of what it missed.
    public var catchesUp = false
    /// Whether the client wants to know the size of the session's terminal.
    public var followsSize = false
    /// All output below was shown by the client's terminal before; nil where it was not attached.
    public var shown: UInt64?
    /// Variables for the session's environment file, as NAME=VALUE.
    public var environment: [[UInt8]] = []
    /// Output that the reader may not have taken yet, in bytes, from 1: the most that is held in
    /// memory, and what may be on its way. A host of an older version takes it for 1 MiB.
    public var outputWindow = Limits.outputWindow
    /// Input that is kept until the host has taken it, in bytes.
    public var inputLimit = Int(Limits.window)

    /// A writer without a terminal.
    public init(session: SessionID, client: ClientID) {
      self.session = session
      self.client = client
    }
  }

  /// The state of the session for this client.
  public enum Phase: Sendable, Equatable {
    /// No channel.
    case detached
    /// A channel; the host has not answered.
    case greeting
    /// Bytes flow.
    case attached
    /// The host refused or replaced this client: attaching again needs a decision.
    case refused(Refusal)
    /// This client left by `detach` or `close`.
    case left
  }

  /// What a frame means to the application, in order.
  public enum Event: Sendable, Equatable {
    /// The host answered; `role` may be less than the requested one.
    case attached(Welcome)
    /// Output that was not delivered before.
    case output(offset: UInt64, stream: ProgramStream, bytes: [UInt8])
    /// Output that is no longer kept.
    case gap(from: UInt64, to: UInt64)
    /// Output that was left out, and the sequences that draw what a terminal shows behind it.
    case screen(from: UInt64, to: UInt64, bytes: [UInt8])
    /// The terminal has another size for the output at this offset and behind it.
    case size(WindowSize, at: UInt64)
    /// All input below the offset was written to the program.
    case inputTaken(through: UInt64)
    /// All controls up to the number were done.
    case controlsDone(through: UInt64)
    /// Input and controls that were never done, and will not be.
    case inputDropped(InputLoss)
    /// The program ended, and all its output was delivered.
    case ended(ProgramEnd, at: UInt64)
    /// The host ended the attachment.
    case refused(Refusal)
    /// A condition that ends nothing.
    case notice(Notice)
    /// The answer to a ping.
    case pong(UInt64)
  }

  /// Input of this client that will not reach the program.
  public struct InputLoss: Sendable, Equatable {
    /// Why.
    public enum Reason: Sendable, Equatable {
      /// Another client became the writer meanwhile.
      case replaced
      /// The program has closed its standard input or ended.
      case closed
    }
    /// Why it will not.
    public var reason: Reason
    /// All input of this client below reached the program; nil where the host has no record of it.
    public var accepted: UInt64?
    /// The end of what this client wrote.
    public var written: UInt64
    /// Controls that were not acknowledged.
    public var controls: [Control]
  }

  /// Why input or a control is not taken from the application.
  public enum WriteError: Error, Sendable, Equatable {
    /// No welcome yet, so the offset of input is unknown.
    case notAttached
    /// This client may only read.
    case notWriter
    /// The buffer has space for fewer bytes.
    case full(space: Int)
    /// Bytes before the offset are missing.
    case hole(expected: UInt64)
    /// Standard input was ended, or the program has.
    case ended
  }

  struct PendingControl: Sendable {
    var number: UInt64
    var control: Control
  }

  /// The client, the session and the mode of the attachment.
  public let configuration: Configuration
  /// The state of the session for this client.
  public internal(set) var phase = Phase.detached
  /// The run of the session; nil before the first welcome of a client that has received nothing.
  public internal(set) var epoch: UInt64?
  /// All output below was received.
  public internal(set) var received: UInt64 = 0
  /// All output below was taken by the reader.
  public internal(set) var consumed: UInt64 = 0
  /// All output below was committed by the application.
  public internal(set) var committed: UInt64 = 0
  /// How the program ended, once all its output was received.
  public internal(set) var ending: ProgramEnd?
  /// The number of the writer's lease under which this client writes.
  public internal(set) var lease: UInt64?
  /// All input below was written to the program.
  public internal(set) var inputTaken: UInt64 = 0

  /// The host's newest answer; nil before the first.
  public internal(set) var welcome: Welcome?
  var helloIsDue = false
  var takes: Bool
  /// A client that was welcomed as a viewer remains one in later attachments: while the link of the
  /// writer is down, the host lets any client write, and the writer would find itself replaced.
  var wanted: Role
  var size: WindowSize?
  /// What of the received output was left out and not taken by the reader.
  var omitted = OmittedOutput()
  var sentAcknowledgement: UInt64 = 0
  var sentCommit: UInt64 = 0
  var acknowledgementSince: Milliseconds?
  var acknowledgesNow = false
  var input = SentInput()
  var inputHasEnded = false
  /// Where this client's input began under the present lease.
  var leaseStart: UInt64 = 0
  var recordedInput: UInt64
  /// The next input offset to send in this attachment.
  var inputCursor: UInt64 = 0
  var controls: [PendingControl] = []
  var lastControl: UInt64 = 0
  /// Whether a control that was sent is not known to be executed.
  package var awaitsControl: Bool { controls.contains { $0.number <= controlsSent } }
  /// All controls up to this number were executed.
  package internal(set) var controlsDone: UInt64 = 0
  /// The last control that was sent in this attachment.
  var controlCursor: UInt64 = 0 {
    didSet { controlsSent = max(controlsSent, controlCursor) }
  }
  /// The last control that was sent in any attachment.
  private var controlsSent: UInt64 = 0
  /// The host has sent the end in this attachment.
  var endWasReceived = false
  /// `close` is sent behind the next end that the host sends.
  var closesAfterEnd = false
  var pongs: [UInt64] = []
  var pings: [UInt64] = []

  /// A client that continues where its application left off; at the beginning without `resume`.
  ///
  /// - Parameters:
  ///   - resume: what the application has committed.
  ///   - input: how far the application wrote, and the lease it wrote under.
  public init(
    _ configuration: Configuration, resume: ResumePoint? = nil, input: InputPoint? = nil
  ) {
    self.configuration = configuration
    takes = configuration.takes
    wanted = configuration.role
    size = configuration.size
    epoch = resume?.epoch
    received = resume?.received ?? 0
    consumed = received
    committed = received
    lease = input?.lease
    recordedInput = input?.written ?? 0
  }

  /// What an application keeps to continue after its own restart.
  public var resumePoint: ResumePoint? {
    epoch.map { ResumePoint(epoch: $0, received: committed) }
  }

  /// The offset of the next byte of input; nil before the first welcome.
  public var inputOffset: UInt64? { welcome == nil ? nil : input.end }

  /// What this attachment may do; nil before the first welcome.
  public var role: Role? { welcome?.role }

  /// A new channel is there: hello is the next frame. Not after the host refused this client or
  /// it left; `retake` first.
  public mutating func connect() {
    switch phase {
    case .detached, .greeting, .attached:
      phase = .greeting
      helloIsDue = true
      endWasReceived = false
      pongs = []
      pings = []
    case .refused, .left: return
    }
  }

  /// The channel is gone.
  public mutating func disconnect() {
    switch phase {
    case .greeting, .attached:
      phase = .detached
      helloIsDue = false
    case .detached, .refused, .left: return
    }
  }

  /// The program has ended, and this client has committed all that it printed: its `close` removes
  /// the session.
  public var mayRemove: Bool {
    if case .refused = phase { return false }
    return role == .writer && ending != nil && committed == received
  }

  /// Attaches once more, to remove the session: the channel was lost before the host did.
  public mutating func closeAgain() {
    closesAfterEnd = true
    phase = .detached
  }

  /// Attaches again after a refusal of what did not arrive whole.
  package mutating func sendAgain() {
    if case .refused = phase { phase = .detached }
  }

  /// Attaches again after a refusal; with `takes`, displaces another writer.
  public mutating func retake(_ takes: Bool) {
    self.takes = takes
    wanted = configuration.role
    phase = .detached
  }

  var hello: Hello {
    var hello = Hello(session: configuration.session, client: configuration.client)
    hello.role = wanted
    hello.takes = takes
    hello.replay = configuration.replay
    hello.fence = configuration.fence
    hello.lease = lease
    hello.window = max(1, configuration.outputWindow)
    hello.size = size
    hello.catchesUp = configuration.catchesUp
    hello.followsSize = configuration.followsSize
    hello.shown = configuration.shown
    hello.environment = configuration.environment
    if let epoch {
      hello.resume = ResumePoint(epoch: epoch, received: received)
      hello.acknowledged = consumed
      hello.committed = committed
    }
    return hello
  }
}

/// How far an application wrote, kept over its own restart.
public struct InputPoint: Sendable, Hashable, Codable {
  /// The end of the input that the application recorded before it wrote it.
  public var written: UInt64
  /// The lease under which it wrote.
  public var lease: UInt64

  /// A point in the input.
  public init(written: UInt64, lease: UInt64) {
    self.written = written
    self.lease = lease
  }
}
