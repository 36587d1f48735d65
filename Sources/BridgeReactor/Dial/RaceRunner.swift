import BridgeErrors
import BridgeTransport
import BridgeWaiting

/// Runs one `AddressRace` with real sockets, on the reactor.
///
/// Every way out goes through `end`, which closes what is open and answers the caller once.
actor RaceRunner {
  struct Winner: Sendable {
    let socket: Socket
    let address: NetworkAddress
  }

  /// One connection under way. The watcher is closed before its descriptor.
  private struct Attempt {
    let socket: Socket
    let watcher: DescriptorWatcher

    func close() {
      watcher.close()
      socket.close()
    }
  }

  private let reactor: Reactor
  private let port: Int
  private let sources: [NetworkAddress.Family: NetworkAddress]
  private let hasInterface: @Sendable () -> Bool
  private let observe: DialFact.Observer
  private var race: AddressRace
  private var attempts: [Int: Attempt] = [:]
  private var delay: LoopTimer?
  private var deadline: LoopTimer?
  private let outcome = Promise<Result<Winner, DialFailure>>()
  private var isOver = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  init(
    _ race: AddressRace, port: Int, from sources: [NetworkAddress.Family: NetworkAddress] = [:],
    on reactor: Reactor,
    hasInterface: @escaping @Sendable () -> Bool, observe: @escaping DialFact.Observer = { _ in }
  ) {
    self.race = race
    self.port = port
    self.sources = sources
    self.reactor = reactor
    self.hasInterface = hasInterface
    self.observe = observe
  }

  /// Runs the race once.
  func winner(within timeout: Duration) async throws(DialFailure) -> Winner {
    if Task.isCancelled { throw DialFailure(phase: .dial, cause: .cancelled) }
    deadline = LoopTimer(deadline: timeout, on: reactor) {
      self.assumeIsolated { $0.end(.failure(DialFailure(phase: .dial, cause: .deadline))) }
    }
    take(.begun)
    let result = await outcome.value { [reactor] in
      reactor.execute {
        self.assumeIsolated { $0.end(.failure(DialFailure(phase: .dial, cause: .cancelled))) }
      }
    }
    return try result.get()
  }

  /// Feeds `event` to the race and does what it says, and what follows from that.
  private func take(_ event: AddressRace.Event) {
    var events = [event]
    while !events.isEmpty {
      for action in race.step(events.removeFirst()) {
        if let next = perform(action) { events.append(next) }
      }
    }
  }

  private func perform(_ action: AddressRace.Action) -> AddressRace.Event? {
    switch action {
    case .connect(let index):
      return connect(index)
    case .armDelay:
      delay?.cancel()
      delay = LoopTimer(after: AddressRace.attemptDelay, on: reactor) {
        self.assumeIsolated { $0.take(.delayElapsed) }
      }
    case .disarmDelay:
      delay?.cancel()
    case .abandon(let index):
      attempts.removeValue(forKey: index)?.close()
      observe(.ended(race.order[index], .abandoned))
    case .win(let index):
      guard let attempt = attempts.removeValue(forKey: index) else { return nil }
      attempt.watcher.close()
      observe(.ended(race.order[index], .connected))
      end(.success(Winner(socket: attempt.socket, address: race.order[index])))
    case .lose(let errno):
      end(.failure(.dial(errno: errno, hasInterface: hasInterface)))
    }
    return nil
  }

  /// Starts an attempt; the event is that it failed at once.
  private func connect(_ index: Int) -> AddressRace.Event? {
    observe(.began(race.order[index]))
    let socket: Socket
    do throws(Socket.CallFailure) {
      let address = race.order[index]
      socket = try Socket.connecting(to: address, port: port, from: sources[address.family])
    } catch {
      observe(.ended(race.order[index], .failed(errno: error.errno)))
      return .failed(index, errno: error.errno)
    }
    let watcher = DescriptorWatcher(socket.descriptor, on: reactor) { _ in
      self.assumeIsolated { $0.settle(index) }
    }
    guard let watcher else {
      socket.close()
      return .failed(index, errno: ErrorNumber.invalidArgument)
    }
    attempts[index] = Attempt(socket: socket, watcher: watcher)
    watcher.watch(for: .writable)
    return nil
  }

  private func settle(_ index: Int) {
    guard let attempt = attempts[index] else { return }
    let errno = attempt.socket.connectOutcome()
    guard errno != 0 else { return take(.connected(index)) }
    attempts.removeValue(forKey: index)?.close()
    observe(.ended(race.order[index], .failed(errno: errno)))
    take(.failed(index, errno: errno))
  }

  private func end(_ result: Result<Winner, DialFailure>) {
    guard !isOver else { return }
    isOver = true
    delay?.cancel()
    deadline?.cancel()
    for (index, attempt) in attempts {
      attempt.close()
      observe(.ended(race.order[index], .unanswered))
    }
    attempts = [:]
    outcome.fulfill(result)
  }
}
