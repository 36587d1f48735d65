import BridgeSessionProtocol

/// What an application keeps on disk; it survives the client's death.
struct ApplicationStore {
  var resume: ResumePoint?
  /// Bytes of output and of gaps that were stored; together with the offset it proves that each
  /// was stored once.
  var storedBytes: UInt64 = 0
  var gaps: [ClosedRange<UInt64>] = []
  var ending: ProgramEnd?
  /// Where the script's position `leasePosition` lies in the input of the session.
  var lease: UInt64?
  var leaseOffset: UInt64 = 0
  var leasePosition = 0
  /// Script bytes that were recorded as written, before they were.
  var written = 0
}

/// A client process: the machine and an application that stores what it reads and writes a script.
struct SimulatedClient {
  let number: Int
  let client: ClientID
  let scriptLength: Int
  let script: [UInt8]
  var store = ApplicationStore()
  var machine: ClientSession
  var parser = FrameParser(splitsOutput: true)
  var outbox: [UInt8] = []
  /// Output that was received and not stored.
  var unread: [ClientSession.Event] = []
  var failures: [String] = []
  var isReplaced = false
  var closesAtEnd = true
  var lastResize: UInt16 = 0
  let kind: ProgramKind

  init(number: Int, kind: ProgramKind, scriptLength: Int, takes: Bool = false) {
    self.number = number
    self.kind = kind
    self.scriptLength = scriptLength
    script = (0..<scriptLength).map { Pattern.input(client: number, position: $0) }
    client = ClientID(high: 7, low: UInt64(number))
    machine = Self.machine(client, nil, takes: takes)
  }

  private static func machine(
    _ client: ClientID, _ store: ApplicationStore?, takes: Bool
  ) -> ClientSession {
    var configuration = ClientSession.Configuration(session: Sample.session, client: client)
    configuration.takes = takes
    configuration.inputLimit = 2000
    if client.low == 1 { configuration.outputWindow = 700 }
    let input = store.flatMap { store in
      store.lease.map { lease in
        let offset = UInt64(store.written - store.leasePosition)
        return InputPoint(written: store.leaseOffset + offset, lease: lease)
      }
    }
    return ClientSession(configuration, resume: store?.resume, input: input)
  }

  /// The process dies and starts again with what it had stored.
  mutating func restart() {
    machine = Self.machine(client, store, takes: isReplaced)
    isReplaced = false
    disconnect()
    unread = []
    (transientBytes, transientGaps, transientEnd) = (store.storedBytes, [], store.ending)
  }

  mutating func connect() {
    machine.connect()
    parser = FrameParser(splitsOutput: true)
    outbox = []
  }

  mutating func disconnect() {
    machine.disconnect()
    parser = FrameParser(splitsOutput: true)
    outbox = []
  }

  /// False when the host broke the protocol.
  mutating func receive(_ bytes: some Sequence<UInt8>, at now: Milliseconds) -> Bool {
    parser.append(bytes)
    do throws(ProtocolError) {
      while let frame = try parser.next() {
        apply(try machine.receive(frame, at: now))
      }
      return true
    } catch {
      failures.append("client \(number): \(error)")
      return false
    }
  }

  private mutating func apply(_ events: [ClientSession.Event]) {
    var welcome: Welcome?
    for event in events {
      switch event {
      case .attached(let answer): welcome = answer
      case .output, .gap, .ended: unread.append(event)
      case .inputDropped(let loss): rewind(to: loss)
      case .refused(let refusal):
        isReplaced = refusal.code == .replaced && refusal.text.contains("took the session over")
        // A late attachment of its own is none that it lost the session to.
        if !isReplaced { failures.append("client \(number): \(refusal)") }
      case .screen: failures.append("client \(number): a screen that it did not ask for")
      case .inputTaken, .controlsDone, .notice, .pong, .size: break
      }
    }
    guard let welcome, welcome.role == .writer, welcome.lease != store.lease else { return }
    if let own = welcome.ownAccepted, store.lease != nil {
      // What was recorded and refused by a full buffer was never the machine's to lose.
      store.written = min(store.written, store.leasePosition + Int(own - store.leaseOffset))
    }
    store.lease = welcome.lease
    store.leaseOffset = welcome.inputAccepted
    store.leasePosition = store.written
  }

  /// What never reached the program is written again, at its new place.
  private mutating func rewind(to loss: ClientSession.InputLoss) {
    guard loss.reason == .replaced else { return }
    guard let accepted = loss.accepted, accepted >= store.leaseOffset else {
      return failures.append("client \(number): accepted \(String(describing: loss.accepted))")
    }
    store.written = store.leasePosition + Int(accepted - store.leaseOffset)
  }

  /// Stores some of the output; dies in between if `dies`.
  mutating func read(_ count: Int, commits: Bool, dies: Bool, at now: Milliseconds) {
    for event in unread.prefix(count) { take(event, at: now) }
    unread.removeFirst(min(count, unread.count))
    guard commits, let epoch = machine.epoch else { return }
    // The store and its offset are written in one step; the process may die right after it.
    store.resume = ResumePoint(epoch: epoch, received: machine.consumed)
    store.storedBytes = transientBytes
    store.gaps += transientGaps
    transientGaps = []
    if let end = transientEnd { store.ending = end }
    if dies { return restart() }
    machine.commit(through: machine.consumed, at: now)
  }

  private var transientBytes: UInt64 = 0
  private var transientGaps: [ClosedRange<UInt64>] = []
  private var transientEnd: ProgramEnd?

  private mutating func take(_ event: ClientSession.Event, at now: Milliseconds) {
    switch event {
    case .output(let offset, let stream, let bytes):
      if offset != machine.consumed { failures.append("output at \(offset)") }
      if !areSame(bytes, Pattern.output(from: offset, count: bytes.count)) {
        failures.append("wrong bytes at \(offset)")
      }
      if stream != Pattern.stream(at: offset, kind) { failures.append("stream at \(offset)") }
      transientBytes += UInt64(bytes.count)
      machine.consume(through: offset + UInt64(bytes.count), at: now)
    case .gap(let from, let to):
      if from != machine.consumed { failures.append("gap at \(from)") }
      transientBytes += to - from
      transientGaps.append(from...to)
      machine.consume(through: to, at: now)
    case .ended(let end, let offset):
      if offset != machine.consumed { failures.append("end at \(offset)") }
      transientEnd = end
    case .screen: failures.append("a screen that it did not ask for")
    case .attached, .inputTaken, .controlsDone, .inputDropped, .refused, .notice, .pong, .size:
      break
    }
  }

  /// Records the next bytes of the script, then writes them; dies in between if `dies`. What was
  /// recorded and not accepted before is written again, some of what was accepted too.
  mutating func write(_ count: Int, dies: Bool) {
    guard machine.phase == .attached, machine.role == .writer, machine.ending == nil else { return }
    guard machine.lease == store.lease, let next = machine.inputOffset else {
      return failures.append("lease")
    }
    store.written = min(scriptLength, store.written + count)
    if dies { return restart() }
    let known = store.leasePosition + Int(next - store.leaseOffset)
    let start = max(store.leasePosition, known - count / 4)
    let end = min(store.written, known + count)
    do {
      let offset = store.leaseOffset + UInt64(start - store.leasePosition)
      _ = try machine.write(script[start..<end], at: offset)
    } catch .full {
      // Later; what is recorded is written with the next bytes.
    } catch {
      failures.append("write: \(error)")
    }
  }

  mutating func resize() {
    guard machine.phase == .attached, machine.role == .writer else { return }
    lastResize += 1
    let size = WindowSize(columns: lastResize, rows: UInt16(number))
    if (try? machine.perform(.resize(size))) == nil { lastResize -= 1 }
  }

  mutating func pump(at now: Milliseconds) {
    while outbox.count < 8 << 10, let frame = machine.nextFrame(limit: 700, at: now) {
      outbox += frame.encoded
    }
  }
}
