import BridgeReactor
import BridgeWaiting

/// A reactor for the time of `body`. Its end waits for every handle that is still active, so that a
/// forgotten timer or watcher shows as a test that never ends.
func withReactor(_ body: (Reactor) async throws -> Void) async rethrows {
  let reactor = Reactor()
  do {
    try await body(reactor)
  } catch {
    await reactor.stop()
    throw error
  }
  await reactor.stop()
}

/// What came, in its order, from any thread.
final class Log<Entry: Sendable>: Sendable {
  private let entries = Mutex<[Entry]>([])

  var all: [Entry] { entries.withLock { $0 } }

  func append(_ entry: Entry) { entries.withLock { $0.append(entry) } }
}

/// The loop would not watch a descriptor.
struct Refused: Error {}

/// An actor pinned to a reactor that owns timers and watchers, as connections do.
actor Pinned {
  let reactor: Reactor
  private var timers: [LoopTimer] = []
  private var watchers: [DescriptorWatcher] = []
  private(set) var seen: [Int] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  init(_ reactor: Reactor) { self.reactor = reactor }

  func append(_ value: Int) { seen.append(value) }

  func isOnLoop() -> Bool { reactor.isCurrent }

  func close() {
    for timer in timers { timer.cancel() }
    for watcher in watchers { watcher.close() }
    timers = []
    watchers = []
  }

  /// Runs `body` on the loop with what belongs to this actor.
  func run<Value: Sendable>(_ body: @Sendable (isolated Pinned) throws -> Value) rethrows -> Value {
    try body(self)
  }

  /// Calls `fire` after `delay`; the timer is kept until `close`.
  func after(_ delay: Duration, _ fire: @escaping @Sendable () -> Void) {
    timers.append(LoopTimer(after: delay, on: reactor, fire))
  }

  /// Calls `fire` when `delay` is over without a time in which the loop did not run.
  func deadline(_ delay: Duration, _ fire: @escaping @Sendable () -> Void) {
    timers.append(LoopTimer(deadline: delay, on: reactor, fire))
  }

  /// Cancels the timer that was made `index`th.
  func cancel(_ index: Int) { timers[index].cancel() }

  /// Forgets the timers without cancelling them.
  func dropTimers() { timers = [] }

  /// Watches `descriptor`; throws when the loop refuses it.
  func watch(
    _ descriptor: Int32, for wanted: DescriptorWatcher.Readiness,
    _ ready: @escaping @Sendable (isolated Pinned, DescriptorWatcher.Readiness) -> Void
  ) throws(Refused) {
    let watcher = DescriptorWatcher(descriptor, on: reactor) { seen in
      self.assumeIsolated { ready($0, seen) }
    }
    guard let watcher else { throw Refused() }
    watcher.watch(for: wanted)
    watchers.append(watcher)
  }

  /// From now on the first watcher watches for `wanted`.
  func rewatch(for wanted: DescriptorWatcher.Readiness) { watchers.first?.watch(for: wanted) }
}

extension Route {
  /// A dial with the usual timeouts.
  func dial() async throws(DialFailure) -> Socket {
    try await dial(resolveTimeout: .seconds(5), dialTimeout: .seconds(10)) { _ in }
  }
}

extension NetworkAddress {
  static let loopback = loopback(1)
  static let loopbackV6 = address([UInt8](repeating: 0, count: 15) + [1])

  /// A multicast address: TCP has no route to it on any machine, and nothing is sent (ENETUNREACH).
  static let unroutable = address([224, 0, 0, 1])

  /// 127.0.0.`last`: Linux answers on all of 127/8.
  static func loopback(_ last: UInt8) -> NetworkAddress { address([127, 0, 0, last]) }

  /// 192.0.2.`last` (RFC 5737), for tables: nothing is sent there.
  static func v4(_ last: UInt8) -> NetworkAddress { address([192, 0, 2, last]) }

  /// 2001:db8::`last` (RFC 3849), for tables: nothing is sent there.
  static func v6(_ last: UInt8) -> NetworkAddress {
    address([0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [last])
  }

  private static func address(_ bytes: [UInt8]) -> NetworkAddress {
    guard let address = NetworkAddress(bytes: bytes) else {
      preconditionFailure("\(bytes.count) bytes are no address")
    }
    return address
  }
}

/// A name server that answers when the test says so.
final class ScriptedLookup: Sendable {
  struct Question: Sendable {
    let host: String
    let answer: @Sendable (Lookup.Answer) -> Void
  }

  private let questions = Log<Question>()

  var asked: [Question] { questions.all }

  var lookup: Lookup {
    Lookup { [questions] host, _, answer in
      questions.append(Question(host: host, answer: answer))
    }
  }

  /// Always the same answer, at once.
  static func answering(_ addresses: [NetworkAddress]) -> Lookup {
    Lookup { _, _, answer in answer(.success(addresses)) }
  }
}

/// As `ScriptedLookup`, whose lookups begin when the test says so.
final class QueuedLookup: Sendable {
  struct Question: Sendable {
    let began: @Sendable () -> Void
    let answer: @Sendable (Lookup.Answer) -> Void
  }

  private let questions = Log<Question>()

  var asked: [Question] { questions.all }

  var lookup: Lookup {
    Lookup(queued: { [questions] _, _, began, answer in
      questions.append(Question(began: began, answer: answer))
    })
  }
}
