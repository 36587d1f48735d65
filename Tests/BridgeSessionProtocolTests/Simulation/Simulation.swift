import BridgeSessionProtocol

/// One host, two clients and a network that loses connections at any byte, from a seed.
struct Simulation {
  let seed: UInt64
  var generator: SeededGenerator
  var host: SimulatedHost
  var clients: [SimulatedClient]
  var links: [Link?]
  var now: Milliseconds = 1000
  var nextLink: UInt32 = 0
  /// Links that the client has given up and the host still believes in, with what is under way.
  var halfOpen: [Link] = []
  let hasCap: Bool
  var counts = Counts()

  /// The events of a run: shows that the faults were there.
  struct Counts {
    var cuts = 0
    var kills = 0
    var takeovers = 0
    var gaps = 0
    /// A hello that arrived after its client had given its link up.
    var lateHellos = 0
  }

  /// Bytes under way between one client and the host.
  struct Link {
    var id: UInt32
    var toHost: [UInt8] = []
    var toClient: [UInt8] = []
  }

  init(seed: UInt64) {
    self.seed = seed
    generator = SeededGenerator(seed: seed)
    let kind: ProgramKind = generator.oneIn(2) ? .terminal : .pipes
    // One run in fifty is longer than every window.
    let total = seed % 50 == 0 ? 3 << 20 : UInt64(1 + generator.upTo(60_000))
    hasCap = generator.oneIn(3)
    let cap: UInt64? = hasCap ? 8192 : nil
    let configuration = HostSession.Configuration(
      session: Sample.session, epoch: generator.next(), kind: kind, cap: cap)
    host = SimulatedHost(configuration, total: total)
    let takesOver = generator.oneIn(3)
    clients = [SimulatedClient(number: 1, kind: kind, scriptLength: generator.upTo(6000))]
    if takesOver {
      let length = generator.upTo(3000)
      clients.append(SimulatedClient(number: 2, kind: kind, scriptLength: length, takes: true))
    }
    links = clients.map { _ in nil }
  }

  /// Runs with faults, then without until everything arrived; nil, or what was wrong.
  mutating func run() -> String? {
    for _ in 0..<(100 + generator.upTo(300)) { step(withFaults: true) }
    var steps = 0
    while !isComplete, steps < 20_000 {
      step(withFaults: false)
      steps += 1
    }
    return outcome
  }

  private var isComplete: Bool { host.wasDiscarded }

  private mutating func step(withFaults: Bool) {
    now += UInt64(generator.upTo(40))
    let long = host.total > 1 << 20
    host.print(generator.upTo(long ? 60_000 : 900), at: now)
    host.readInput(generator.upTo(300), at: now)
    if host.total == host.machine.newest, allInputArrived { host.end(.exited(status: 42), at: now) }
    for index in clients.indices {
      if withFaults { inject(index) }
      work(index, withFaults: withFaults)
      transmit(index, all: !withFaults)
    }
    if let old = halfOpen.first, generator.oneIn(withFaults ? 20 : 2) {
      arriveLate(old)
      halfOpen.removeFirst()
    }
  }

  /// What a link had under way arrives, and its end: its client answers no more.
  private mutating func arriveLate(_ link: Link) {
    if !link.toHost.isEmpty, !host.machine.isAttached(link.id) { counts.lateHellos += 1 }
    host.receive(link.toHost, on: link.id, at: now)
    host.disconnect(link.id)
  }

  private var allInputArrived: Bool {
    host.programInput.count == clients.reduce(0) { $0 + $1.scriptLength }
  }

  private mutating func inject(_ index: Int) {
    if generator.oneIn(12), links[index] != nil { cut(index) }
    if generator.oneIn(40) {
      counts.kills += 1
      clients[index].restart()
      if links[index] != nil { cut(index) }
    }
  }

  /// The connection is lost with what is under way; one side may notice much later.
  private mutating func cut(_ index: Int) {
    guard var link = links[index] else { return }
    counts.cuts += 1
    links[index] = nil
    link.toHost += clients[index].outbox
    let arrived = link.toHost.prefix(generator.upTo(link.toHost.count))
    host.receive(arrived, on: link.id, at: now)
    link.toHost.removeFirst(arrived.count)
    clients[index].disconnect()
    if generator.oneIn(2) {
      host.disconnect(link.id)
    } else {
      halfOpen.append(link)
    }
  }

  private mutating func work(_ index: Int, withFaults: Bool) {
    reconnect(index, withFaults: withFaults)
    let dies = withFaults && generator.oneIn(30)
    clients[index].write(generator.upTo(200), dies: dies)
    if generator.oneIn(20) { clients[index].resize() }
    // Now and then the reader stops for a while.
    if !withFaults || !generator.oneIn(4) {
      let kills = withFaults && generator.oneIn(25)
      clients[index].read(1 + generator.upTo(60), commits: generator.oneIn(3), dies: kills, at: now)
    }
    if clients[index].machine.phase == .detached, links[index] != nil { cut(index) }
    if !withFaults { finish(index) }
  }

  private mutating func reconnect(_ index: Int, withFaults: Bool) {
    if clients[index].isReplaced, generator.oneIn(withFaults ? 30 : 5), mayTake(index) {
      counts.takeovers += 1
      clients[index].isReplaced = false
      clients[index].machine.retake(true)
    }
    guard links[index] == nil, clients[index].machine.phase != .left else { return }
    if case .refused = clients[index].machine.phase { return }
    // A viewer asks again to write once the other has left.
    guard generator.oneIn(3) else { return }
    links[index] = Link(id: nextLink)
    host.connect(nextLink)
    nextLink += 1
    clients[index].connect()
  }

  /// At the end each client writes all of its script before the next one takes over.
  private func mayTake(_ index: Int) -> Bool {
    clients.indices.allSatisfy { other in
      other == index || !isWriting(other)
    }
  }

  private func isWriting(_ index: Int) -> Bool {
    clients[index].machine.role == .writer
      && clients[index].store.written
        < clients[index].scriptLength
      && clients[index].machine.phase == .attached
  }

  /// Without faults: a client that is done leaves; the last one closes the session.
  private mutating func finish(_ index: Int) {
    let isLast = clients.indices.allSatisfy { $0 == index || clients[$0].machine.phase == .left }
    let client = clients[index]
    guard client.machine.phase == .attached else { return }
    if index > 0, client.store.written == client.scriptLength, client.store.ending != nil {
      try? clients[index].machine.detach(closes: false)
    } else if client.machine.role == .viewer, generator.oneIn(10) {
      // Writes as soon as the other client has written everything.
      cut(index)
      if mayTake(index) { clients[index].machine.retake(true) }
    } else if isLast, client.store.ending != nil, client.machine.role == .writer,
      client.machine.committed == host.total
    {
      try? clients[index].machine.detach(closes: true)
    }
  }

  /// Moves bytes, cut anywhere.
  private mutating func transmit(_ index: Int, all: Bool) {
    clients[index].pump(at: now)
    host.pump(at: now)
    guard var link = links[index] else { return }
    link.toHost += clients[index].outbox
    clients[index].outbox = []
    link.toClient += host.connections[link.id]?.outbox ?? []
    host.connections[link.id]?.outbox = []
    let up = link.toHost.prefix(all ? .max : generator.upTo(link.toHost.count))
    host.receive(up, on: link.id, at: now)
    link.toHost.removeFirst(up.count)
    let down = link.toClient.prefix(all ? .max : generator.upTo(link.toClient.count))
    let isSound = clients[index].receive(down, at: now)
    link.toClient.removeFirst(down.count)
    links[index] = link
    let hostEnded = host.connections[link.id]?.ends == true && link.toClient.isEmpty
    guard hostEnded || !isSound else { return }
    links[index] = nil
    host.disconnect(link.id)
    clients[index].disconnect()
  }

  private var outcome: String? {
    if let failure = clients.flatMap(\.failures).first { return failure }
    if let violation = host.violations.first { return "host: \(violation)" }
    guard isComplete else { return "not complete: \(state)" }
    let main = clients[0].store
    guard main.storedBytes == host.total else { return "stored \(main.storedBytes)" }
    guard main.ending == .exited(status: 42) else {
      return "end \(String(describing: main.ending))"
    }
    if !hasCap, !main.gaps.isEmpty { return "gaps \(main.gaps)" }
    for client in clients {
      let own = host.programInput.filter { Int($0 >> 6) == client.number }
      guard own == client.script else {
        return "input of \(client.number): \(own.count)/\(client.scriptLength)"
      }
    }
    return nil
  }

  private var state: String {
    let clients = clients.map {
      "\($0.machine.phase) \(String(describing: $0.machine.role)) written \($0.store.written)"
        + "/\($0.scriptLength) committed \($0.machine.committed) replaced \($0.isReplaced)"
    }
    return "newest \(host.machine.newest)/\(host.total) input \(host.programInput.count) "
      + "oldest \(host.machine.oldest) \(clients)"
  }
}
