import BridgeSessionProtocol

/// Output as a function of its offset, so that every byte can be checked without storing any.
enum Pattern {
  static let period = 1 << 20
  /// Two periods, so that any piece up to one period long is a slice.
  static let bytes: [UInt8] = {
    var generator = SeededGenerator(seed: 0xB51D)
    let words = (0..<(period / 8)).map { _ in generator.next() }
    let once = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } }
    return once + once
  }()

  static func output(from offset: UInt64, count: Int) -> ArraySlice<UInt8> {
    let start = Int(offset % UInt64(period))
    return bytes[start..<(start + count)]
  }

  /// The stream changes every 1,000 bytes.
  static func stream(at offset: UInt64, _ kind: ProgramKind) -> ProgramStream {
    if kind == .terminal { return .terminal }
    return offset / 1000 % 3 == 1 ? .standardError : .standardOutput
  }

  /// What client number `client` writes at a position of its script.
  static func input(client: Int, position: Int) -> UInt8 {
    UInt8(client << 6) | UInt8(position * 7 % 61)
  }
}

/// A session's host with its program: the machine, a journal that keeps what the machine lets it
/// keep, and input that the program reads slowly.
struct SimulatedHost {
  var machine: HostSession
  var connections: [UInt32: HostConnection] = [:]
  var total: UInt64
  /// Input that was accepted and not written to the program.
  var pendingInput: [UInt8] = []
  var programInput: [UInt8] = []
  var resizes: [UInt16] = []
  var inputWasClosed = false
  var wasDiscarded = false
  var violations: [ProtocolError] = []

  struct HostConnection {
    var parser = FrameParser()
    var outbox: [UInt8] = []
    var ends = false
  }

  init(_ configuration: HostSession.Configuration, total: UInt64) {
    machine = HostSession(configuration)
    self.total = total
  }

  mutating func connect(_ id: UInt32) {
    connections[id] = HostConnection()
    execute(machine.connect(id))
  }

  mutating func disconnect(_ id: UInt32) {
    connections[id] = nil
    machine.disconnect(id)
  }

  mutating func receive(_ bytes: some Sequence<UInt8>, on id: UInt32, at now: Milliseconds) {
    guard connections[id]?.ends == false else { return }
    connections[id]?.parser.append(bytes)
    do throws(ProtocolError) {
      while let frame = try connections[id]?.parser.next() {
        execute(machine.receive(frame, from: id, at: now))
      }
    } catch {
      execute(machine.violate(error, by: id))
    }
  }

  private mutating func execute(_ effects: [HostSession.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let id, let frame): connections[id]?.outbox += frame.encoded
      case .end(let id, let reason):
        connections[id]?.ends = true
        if case .violated(let error) = reason { violations.append(error) }
      case .writeInput(let bytes): pendingInput += bytes
      case .closeInput: inputWasClosed = true
      case .resize(let size): resizes.append(size.columns)
      case .signal: break
      case .discard: wasDiscarded = true
      }
    }
  }

  /// The program prints up to `count` bytes, if the machine lets the keeper read them.
  mutating func print(_ count: Int, at now: Milliseconds) {
    let left = total - machine.newest
    guard left > 0, machine.readPermission(at: now) == .read else { return }
    machine.produced(Int(min(UInt64(count), left)), at: now)
    // Whole segments go.
    let segment: UInt64 = 4096
    machine.dropped(below: machine.dropTarget / segment * segment)
  }

  mutating func readInput(_ count: Int, at now: Milliseconds) {
    let taken = min(count, pendingInput.count)
    guard taken > 0 else { return }
    programInput += pendingInput[..<taken]
    pendingInput.removeFirst(taken)
    execute(machine.inputWritten(taken, at: now))
  }

  mutating func end(_ end: ProgramEnd, at now: Milliseconds) {
    guard machine.ending == nil, machine.newest == total else { return }
    execute(machine.end(end, at: now))
  }

  /// Fills the outboxes with what is due.
  mutating func pump(at now: Milliseconds) {
    for (id, _) in machine.answerable(at: now) { execute(machine.answer(id, at: now)) }
    execute(machine.acknowledgements(at: now))
    for id in connections.keys.sorted() {
      while connections[id]?.outbox.count ?? .max < 16 << 10, let frames = nextFrames(id) {
        connections[id]?.outbox += frames
      }
    }
  }

  private mutating func nextFrames(_ id: UInt32) -> [UInt8]? {
    switch machine.nextOutput(for: id, limit: 8 << 10) {
    case .nothing: return nil
    case .size(let size): return Frame.size(size).encoded
    case .gap(let from, let to): return Frame.gap(from: from, to: to).encoded
    case .ended(let at, let end): return Frame.ended(at: at, end).encoded
    case .bytes(let from, let count):
      var frames: [UInt8] = []
      var offset = from
      while offset < from + UInt64(count) {
        let run = min(offset / 1000 * 1000 + 1000, from + UInt64(count)) - offset
        let bytes = Array(Pattern.output(from: offset, count: Int(run)))
        let stream = Pattern.stream(at: offset, machine.configuration.kind)
        frames += Frame.output(offset: offset, stream: stream, bytes: bytes).encoded
        offset += run
      }
      return frames
    }
  }
}
