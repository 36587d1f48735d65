public import BridgeErrors
public import BridgeSessionProtocol
public import BridgeTransport
import BridgeWaiting

/// A program on a remote machine that outlives every connection to it, as one client sees it.
///
/// It receives a function that yields byte channels, and requests the next one whenever a channel
/// ends: output goes on at the byte, input that did not arrive is sent again, both once and in
/// order. It retries nothing by itself: what that function throws ends the session for this client,
/// and the program goes on. Disconnect with `detach` or `close`; without that a session attaches
/// until the program ends.
public actor DurableSession {
  /// Yields the channel of the next attachment: runs `command` on the host. `last` is why the one
  /// before ended; nil for the first. Waits for a usable link for as long as the caller likes.
  ///
  /// - Throws: why there is none, which ends the session for this client.
  public typealias NextChannel =
    @Sendable (_ command: String, _ last: ByteChannelEnding?) async throws(AppError)
    -> any ByteChannel

  /// Which session, and how.
  public struct Configuration: Sendable {
    /// The host, as errors name it.
    public var host: String
    /// The client, the session and the mode of the attachment.
    public var attachment: ClientSession.Configuration
    /// The program, started with the first attachment unless that was done before; nil to attach
    /// only.
    public var start: SessionSpec?
    /// Where a former run of this application left off: what it had committed.
    public var resume: ResumePoint?
    /// How far a former run of this application wrote.
    public var input: InputPoint?
    /// The path of `bridge-host` on the host; nil to look where it is installed.
    public var program: String?
    /// How long the host may say nothing before `bridge-host` answers.
    public var answerLimit = Duration.milliseconds(AnswerWatch.longSilence)

    /// Counts links that end before an answer, and gives up where they are too many: for a host
    /// that may be a device without `bridge-host`. Nil where it is known to have one: it may be
    /// dialed for ever.
    package var unheard: UnheardLinks?

    /// The pauses of an attached session whose host refuses it, or cannot run `bridge-host`.
    package var refusalPauses = RefusalRetry.usual

    /// Where the program is: for one that was to be started before.
    package var place = StartPlace()

    /// The token of the agent that the session is to find; nil for that of the login on the host.
    package var agent: Identifier?

    /// Attaches to a session as a writer.
    public init(host: String, attachment: ClientSession.Configuration) {
      self.host = host
      self.attachment = attachment
    }

    /// Starts `spec`, or attaches to it where it was started before.
    public init(host: String, starting spec: SessionSpec, client: ClientID) {
      self.init(host: host, attachment: .init(session: spec.session, client: client))
      start = spec
    }
  }

  /// An event beside the output.
  public enum Event: Sendable, Equatable {
    /// The host answered: bytes flow.
    case attached(Welcome)
    /// The channel was lost; another one is requested.
    case suspended(ByteChannelEnding)
    /// The host, where it was attached before, does not go on with it for now: it is asked again.
    case refused(AppError)
    /// Input and controls that will not reach the program.
    case inputDropped(ClientSession.InputLoss)
    /// A condition that ends nothing.
    case notice(Notice)
  }

  /// Which session, and how.
  public nonisolated let configuration: Configuration
  /// Steps of the session, oldest first, the newest 64 of them; one reader. Ends with it.
  public nonisolated let events: AsyncStream<Event>

  /// What the first channel runs.
  package nonisolated let firstCommand: HostCommand
  var isFirst = true

  let nextChannel: NextChannel
  let executor: (any TaskExecutor)?
  let clock: SessionClock
  let sink: AsyncStream<Event>.Continuation

  var machine: ClientSession
  var queue = OutputQueue()
  var answer = AnswerReader(marker: "-")
  /// What is sent first, once `bridge-host` answers: another program may read what comes before.
  var opening: [UInt8] = []
  /// Whether the hello of a later attachment goes before the greeting, which saves a round trip.
  var haste = Haste.allowed
  /// Recognizes a `bridge-host` without a greeting.
  var greeting: Task<Void, Never>?
  var watch: AnswerWatch?
  /// Why it is over for this client; nil while it is not, and after it left or the program ended.
  var failure: AppError?
  /// Carries the session over all its channels.
  var carrying: Task<Void, Never>?
  var isOver = false
  var isLeaving = false
  /// How far the end of the attachment that this client leaves is waited for.
  var farewell = Farewell.isAnswered
  var closing: Task<Void, Never>?
  /// Whether the host has answered this attachment.
  var isWelcome = false
  /// Whether it said on this attachment that the program was started.
  var hasStatus = false
  /// Whether the program may have been started: false as long as no `bridge-host` was sent what
  /// starts it, or where it declined.
  public var mayHaveStarted: Bool { configuration.place.mayHaveStarted }
  var wasWriter = false
  var hasAttached = false
  var timer: Task<Void, Never>?
  /// Callers that wait for output, space for input, an end, or a state.
  let changes = Changes()
  /// The sender, while it has nothing to send.
  let sends = Changes()
  /// The channel, while the sender has nothing to send.
  var idleChannel: (any ByteChannel)?
  /// The receiver, while the queue of output is full.
  let outputSpace = Changes()

  enum Haste {
    case allowed
    /// It went so on this attachment.
    case taken
    /// It was not answered, and this attachment was ended for that.
    case lost
    /// A start-up file has read a hello, or a part of it: the next ones follow the greeting.
    case refused
  }

  enum Farewell {
    /// Until the host ends it.
    case isAnswered
    /// Until the wish is sent.
    case isSent
    /// It has ended, or its end is not waited for.
    case isOver
  }

  /// A session that does nothing before `attach`, or before it is read from or written to.
  ///
  /// - Parameters:
  ///   - clock: for the age of acknowledgements and the time that leaving may take.
  ///   - executor: where its tasks run; nil for the global pool.
  ///   - nextChannel: yields the channel of the next attachment.
  public init<C: Clock>(
    _ configuration: Configuration, clock: C = ContinuousClock(),
    executor: (any TaskExecutor)? = nil, nextChannel: @escaping NextChannel
  ) where C.Duration == Duration {
    self.configuration = configuration
    firstCommand = HostCommand(
      configuration.start == nil ? .attach(configuration.attachment.session) : .startAndAttach,
      program: configuration.program, agent: configuration.agent)
    self.clock = SessionClock(clock)
    self.executor = executor
    self.nextChannel = nextChannel
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    machine = ClientSession(
      configuration.attachment, resume: configuration.resume, input: configuration.input)
  }

  /// What the program prints, once and in order.
  public nonisolated var output: SessionOutput { SessionOutput(session: self) }

  /// Attaches, and attaches again by itself from now on; returns with the host's first answer.
  ///
  /// - Throws: `durableSessionNotFound`, `durableSessionConflict`, `durableSessionHostUnusable`,
  ///   `fileWriteError`, `sshProtocolError`; what the function that yields channels threw;
  ///   `cancelled` after `detach`, and when the calling task is canceled (attaching goes on).
  public func attach() async throws(AppError) -> Welcome {
    begin()
    while true {
      if let welcome = machine.welcome { return welcome }
      if isOver { throw failure ?? .cancelled }
      try await change()
    }
  }

  /// How the program ended, once all its output was received: an exit status or a signal. The
  /// output must be read meanwhile: after a window (4 MiB) that is not read the host sends no more.
  ///
  /// - Throws: `durableSessionOutcomeUnknown` when the keeper died or the machine was restarted;
  ///   why the session is over for this client; `cancelled` after `detach`, and when the calling
  ///   task is canceled.
  public func exitStatus() async throws(AppError) -> ProgramEnd {
    begin()
    while true {
      if let end = machine.ending {
        if let unknown = SessionFailure.unknownEnd(end, host: configuration.host) { throw unknown }
        return end
      }
      if isOver { throw failure ?? .cancelled }
      try await change()
    }
  }

  /// How it ended where that was received, also when the outcome is not known; nil before.
  public var ending: ProgramEnd? { machine.ending }

  /// What this client may do; nil before the host's first answer.
  public var role: Role? { machine.role }

  /// What to store beside the application's own data, to continue after its restart: the output
  /// that was committed. nil before the host's first answer.
  public var resumePoint: ResumePoint? { machine.resumePoint }

  /// All input below was written to the program.
  public var inputTaken: UInt64 { machine.inputTaken }

  /// How many bytes were carried for this client, in both directions.
  package var progress: UInt64 { machine.received + machine.inputTaken }

  /// How many bytes were written and not reported as taken by the program: after leaving, those
  /// that may not have reached it.
  public var inputUntaken: UInt64 {
    let end = machine.inputOffset ?? 0
    return end > machine.inputTaken ? end - machine.inputTaken : 0
  }

  /// The offset of the next byte of input, and the lease it is written under: what to store before
  /// writing. nil before the host's first answer, and for a viewer.
  public var inputPoint: InputPoint? {
    guard let lease = machine.lease, let written = machine.inputOffset else { return nil }
    return InputPoint(written: written, lease: lease)
  }

  /// What a viewer, a client that only looks on, is configured with: of a terminal it begins with
  /// the screen of now; of a program on pipes `tail` bytes before what this client has committed.
  /// Returns with the host's first answer.
  ///
  /// - Throws: as `attach`.
  public func viewing(
    as client: ClientID, tail: UInt64
  ) async throws(AppError) -> Configuration {
    let welcome = try await attach()
    var attachment = ClientSession.Configuration(
      session: configuration.attachment.session, client: client)
    (attachment.role, attachment.replay) = (.viewer, .screen)
    (attachment.catchesUp, attachment.followsSize) = (true, true)
    var viewing = Configuration(host: configuration.host, attachment: attachment)
    viewing.program = configuration.program
    if welcome.kind == .pipes, var point = resumePoint {
      point.received -= min(tail, point.received)
      viewing.resume = point
    }
    return viewing
  }

  /// Records that the effect of all output below `offset` is stored: a client that resumes later
  /// does not get it again, and the host may give it up.
  public func commit(through offset: UInt64) {
    machine.commit(through: offset, at: clock.now())
    acknowledge()
  }

  /// Attaches, where that was not requested before, so that no caller waits in vain.
  func begin() {
    guard carrying == nil, !isOver else { return }
    carrying = Task(executorPreference: executor) { await self.carryAll() }
  }

  // Waiting.

  /// Returns when something has changed.
  ///
  /// - Throws: `cancelled` when the calling task is.
  func change() async throws(AppError) { try await changes.wait(after: changes.version) }
}
