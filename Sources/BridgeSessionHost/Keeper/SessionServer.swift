import BridgeSessionProtocol
import BridgeTerminalState

/// Serves the attachments of one session from its machine and its journal; a keeper adds the
/// program, and of an ended session there is nothing more.
final class SessionServer {
  var machine: HostSession
  let journal: Journal
  private(set) var connections: [Attachment] = []
  /// The machine's requests to the program, in order; the owner takes them.
  private var programEffects: [HostSession.Effect] = []
  private var nextID: HostSession.AttachmentID = 1
  /// True when the last hello came from a terminal that shows nothing of the session yet.
  private var isNewScreen = false
  /// What the last writer gave for the environment file.
  private var environment: [[UInt8]]?
  /// The name that the session was given since it was started; clients hear of it.
  var newName: [UInt8]? { didSet { if let renaming { notify(renaming) } } }
  /// Readers that may come back.
  var lost = LostReaders()

  /// What a new client of a terminal is shown; nil for what is found in the journal.
  var screen: ((Hello) -> ReplayPoint?)?

  /// What a terminal shows after all output.
  enum ScreenOfNow {
    case drawn([UInt8])
    /// The output ends in the middle of a sequence, which may be a protocol of its own.
    case later
    case unknown
  }

  /// What a client that is far behind is shown.
  var screenOfNow: (() -> ScreenOfNow)?

  /// How long a connection may take to send its hello.
  private static let greeting: Milliseconds = 30_000

  init(_ machine: HostSession, _ journal: Journal) {
    self.machine = machine
    self.journal = journal
  }

  /// What is to be waited for on a connection.
  enum Part: Equatable {
    case input
    case output
    case process
  }

  struct Token: Equatable {
    var connection: HostSession.AttachmentID
    var part: Part
  }

  /// Adds a connection whose descriptors do not wait.
  func add(
    input: Channel, output: Channel, process: Descriptor?, agent: String? = nil,
    from address: String? = nil, at now: Milliseconds
  ) {
    let connection = Attachment(
      id: nextID, input: input, output: output, process: process, agent: agent, at: now)
    nextID += 1
    connections.append(connection)
    execute(machine.connect(connection.id, from: address), at: now)
  }

  func takeProgramEffects() -> [HostSession.Effect] {
    defer { programEffects = [] }
    return programEffects
  }

  /// True once for each new screen.
  func takeNewScreen() -> Bool {
    defer { isNewScreen = false }
    return isNewScreen
  }

  func takeEnvironment() -> [[UInt8]]? {
    defer { environment = nil }
    return environment
  }

  /// Pings clients that answer, and to which nothing is under way.
  func askForSigns() {
    for connection in connections where connection.unsent == 0 {
      if machine.answersPings(connection.id) { connection.queue(Frame.ping(0).encoded) }
    }
  }

  /// Sends a notice to everyone attached.
  func notify(_ notice: Notice) {
    for connection in connections where machine.isAttached(connection.id) {
      connection.queue(Frame.notice(notice).encoded)
    }
  }

  private var renaming: Notice? {
    newName.map { Notice(.renamed, String(decoding: $0, as: UTF8.self)) }
  }

  /// Adds what is to be waited for to a list whose tokens `wrap` makes.
  func add<Outer>(to list: inout PollList<Outer>, _ wrap: (Token) -> Outer) {
    for connection in connections {
      let id = connection.id
      list.add(
        wrap(Token(connection: id, part: .input)), connection.input.descriptor.number,
        reads: connection.takesFrames)
      list.add(
        wrap(Token(connection: id, part: .output)), connection.output.descriptor.number,
        writes: connection.unsent > 0 || machine.hasOutput(for: id))
      guard let process = connection.process else { continue }
      list.add(wrap(Token(connection: id, part: .process)), process.number, reads: true)
    }
  }

  /// Reads frames of a connection that is ready, and notices its end.
  func serve(_ token: Token, _ readiness: Readiness, at now: Milliseconds) {
    guard let connection = connection(token.connection) else { return }
    switch token.part {
    case .input where readiness.isReadable: _ = receive(connection, at: now)
    case .input, .output: if readiness.isClosed { connection.isGone = true }
    // The attaching process sends nothing: it has ended.
    case .process: if readiness.isReadable || readiness.isClosed { connection.isGone = true }
    }
  }

  /// Takes in what a peer that is gone had sent before: its wish to leave may be the last of it.
  private func receiveRest(of connection: Attachment, at now: Milliseconds) {
    var reads = 0
    while connection.takesFrames, reads < Self.mostReads, receive(connection, at: now) {
      reads += 1
    }
  }

  /// For a peer that goes on sending.
  private static let mostReads = 64

  /// Takes in what is there; false where there is nothing.
  private func receive(_ connection: Attachment, at now: Milliseconds) -> Bool {
    switch connection.input.read(connection.readSize.next) {
    case .nothing: return false
    case .end:
      connection.isGone = true
      return false
    case .bytes(let bytes):
      connection.readSize.took(bytes.count)
      connection.parser.append(bytes)
      do throws(ProtocolError) {
        while connection.exitCode == nil, let frame = try connection.parser.next() {
          receive(frame, from: connection, at: now)
        }
      } catch {
        execute(machine.violate(error, by: connection.id), at: now)
      }
      return true
    }
  }

  private func receive(_ frame: Frame, from connection: Attachment, at now: Milliseconds) {
    let hello = machine.hello(in: frame, from: connection.id)
    if let hello { prepare(for: hello) }
    execute(machine.receive(frame, from: connection.id, at: now), at: now)
    if case .acknowledge(let through, _) = frame {
      connection.pieceSize.acknowledged(through: through, at: now)
    }
    if let hello { conclude(hello, of: connection) }
  }

  /// Answers hellos that waited for a sign of life of the writer.
  private func answerHellos(at now: Milliseconds) {
    for (id, hello) in machine.answerable(at: now) {
      prepare(for: hello)
      execute(machine.answer(id, at: now), at: now)
      if let connection = connection(id) { conclude(hello, of: connection) }
    }
  }

  /// Takes from a hello that was accepted what concerns the program.
  private func conclude(_ hello: Hello, of connection: Attachment) {
    if machine.isAttached(connection.id) {
      lost.find(hello.client)
      if let renaming { connection.queue(Frame.notice(renaming).encoded) }
    }
    guard machine.isWriter(connection.id) else { return }
    isNewScreen = hello.resume == nil && hello.size != nil
    if !hello.environment.isEmpty { environment = hello.environment }
  }

  /// Finds where a terminal of its own begins, before the machine answers its hello.
  private func prepare(for hello: Hello) {
    guard hello.resume == nil, hello.replay == .screen else { return }
    machine.replayPoint =
      screen?(hello) ?? ReplayStart.find(in: journal, machine.configuration.kind)
  }

  /// Executes the effects of the machine.
  func execute(_ effects: [HostSession.Effect], at now: Milliseconds) {
    for effect in effects {
      switch effect {
      case .send(let id, .pong(let value)): connection(id)?.answer(value)
      case .send(let id, let frame): connection(id)?.queue(frame.encoded)
      case .end(let id, let reason): connection(id)?.end(HostStatus.of(reason), at: now)
      case .writeInput, .closeInput, .resize, .signal, .discard: programEffects.append(effect)
      }
    }
  }

  private func connection(_ id: HostSession.AttachmentID) -> Attachment? {
    connections.first { $0.id == id }
  }

  /// Sends due frames and removes connections that have ended.
  func pump(at now: Milliseconds) {
    answerHellos(at: now)
    if writerHasSpace { execute(machine.acknowledgements(at: now), at: now) }
    for connection in connections {
      fill(connection, at: now)
      connection.flush(at: now)
      let isSilent = now >= connection.since + Self.greeting
      if isSilent, !machine.isAttached(connection.id), connection.exitCode == nil {
        connection.isGone = true
      }
    }
    for connection in connections where connection.isGone { receiveRest(of: connection, at: now) }
    for connection in connections where connection.isFinished(at: now) {
      // What a writer leaves is the next one's.
      if connection.exitCode == nil, !machine.isWriter(connection.id),
        let client = machine.client(of: connection.id)
      {
        lost.lose(client, at: now)
      }
      machine.disconnect(connection.id)
      connection.release()
    }
    connections.removeAll { $0.isFinished(at: now) }
  }

  private func fill(_ connection: Attachment, at now: Milliseconds) {
    connection.queueAnswers()
    defer { machine.followPace(of: connection.id, at: now) }
    while connection.exitCode == nil, !connection.isGone, connection.hasSpace {
      catchUp(connection)
      switch machine.nextOutput(for: connection.id, limit: connection.pieceSize.next()) {
      case .nothing: return
      case .gap(let from, let to): connection.queue(Frame.gap(from: from, to: to).encoded)
      case .ended(let at, let end): connection.queue(Frame.ended(at: at, end).encoded)
      case .size(let size): connection.queue(Frame.size(size).encoded)
      case .bytes(let from, let count): queue(from..<(from + UInt64(count)), on: connection)
      }
      connection.flush(at: now)
    }
  }

  /// Sends the screen in place of output that would take long.
  private func catchUp(_ connection: Attachment) {
    guard let range = machine.excess(for: connection.id) else { return }
    switch screenOfNow?() ?? .unknown {
    case .later: return
    case .unknown: machine.sendAll(to: connection.id)
    case .drawn(let screen):
      let queries = machine.unanswered(of: range, for: connection.id).map(queries) ?? []
      if let size = machine.size(before: range.upperBound, for: connection.id) {
        connection.queue(Frame.size(size).encoded)
      }
      connection.queue(Frame.screen(to: range.upperBound, bytes: screen + queries).encoded)
      machine.omit(range, for: connection.id)
    }
  }

  /// What a terminal is asked in a part of the output.
  private func queries(in range: Range<UInt64>) -> [UInt8] {
    var (output, position) = ([UInt8](), range.lowerBound)
    while position < range.upperBound {
      guard
        case .bytes(let bytes, let through) = journal.piece(
          from: position, to: range.upperBound, framed: false), through > position
      else { break }
      output += bytes
      position = through
    }
    return TerminalQueries.last(in: output, limit: Self.queriesLimit)
  }

  private static let queriesLimit = 1024

  /// Output of the journal; what cannot be read of it becomes a gap.
  private func queue(_ range: Range<UInt64>, on connection: Attachment) {
    var position = range.lowerBound
    while position < range.upperBound {
      if let frame = journal.newestFrame(from: position, to: range.upperBound) {
        connection.queue(frame.header, frame.bytes)
        position += UInt64(frame.bytes.count)
        continue
      }
      switch journal.piece(from: position, to: range.upperBound) {
      case .bytes(let frames, let through) where through > position:
        connection.queue(frames)
        position = through
      case .bytes: return connection.isGone = true
      case .missing(let to):
        connection.queue(Frame.gap(from: position, to: to).encoded)
        machine.skip(to: to, for: connection.id)
        position = to
      }
    }
  }

  private var writer: Attachment? { connections.first { machine.isWriter($0.id) } }

  /// One acknowledgement counts for all before it: it waits where output is behind.
  private var writerHasSpace: Bool { writer?.hasSpace != false }

  /// Whether the program's output may be read now: not while its writer is behind, and for a moment
  /// not while a fast one takes what there is.
  func readPermission(at now: Milliseconds) -> HostSession.ReadPermission {
    let permission = machine.readPermission(at: now)
    guard permission == .read, let end = writer?.catchUpEnd(at: now) else { return permission }
    return .hold(until: end)
  }

  /// When `pump` is due without an event.
  func deadline(at now: Milliseconds) -> Milliseconds? {
    var first = writerHasSpace ? machine.acknowledgementDeadline : nil
    first.limit(to: machine.answerDeadline)
    for connection in connections {
      if connection.exitCode != nil {
        first.limit(to: connection.endedAt + Attachment.lastFrames)
      } else if !machine.isAttached(connection.id) {
        first.limit(to: connection.since + Self.greeting)
      }
    }
    return first
  }
}
