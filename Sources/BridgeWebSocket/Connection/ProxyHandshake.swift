import BridgeErrors
import BridgeReactor
import BridgeWaiting

/// One request for a tunnel over a socket to a proxy, and the answer. On the reactor.
///
/// What follows the answer stays in the socket. Every way out goes through `end`, which answers the
/// caller once; the socket stays the caller's.
actor ProxyHandshake {
  /// Why there is no answer.
  enum Failure: Error, Sendable, Equatable {
    /// None came in time.
    case deadline
    /// The proxy closed the connection before the answer was whole.
    case dropped
    /// What came is none.
    case notProxy(seen: String)
    /// The reactor is being stopped.
    case unavailable
    case cancelled
  }

  private let socket: Socket
  private let reactor: Reactor
  private var request: [UInt8]
  private var answer = ProxyAnswer()
  private var watcher: DescriptorWatcher?
  private var deadline: LoopTimer?
  private let head = Promise<Result<ProxyAnswer.Head, Failure>>()
  private var isOver = false

  nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.serialExecutor }

  /// A handshake over `socket` that begins with `request`.
  init(over socket: Socket, _ request: [UInt8], on reactor: Reactor) {
    self.socket = socket
    self.request = request
    self.reactor = reactor
  }

  /// Sends the request and reads the head of the answer; runs once.
  func head(within timeout: Duration) async throws(Failure) -> ProxyAnswer.Head {
    if Task.isCancelled { end(.failure(.cancelled)) } else { begin(within: timeout) }
    let result = await head.value { [reactor] in
      reactor.execute { self.assumeIsolated { $0.cancel() } }
    }
    return try result.get()
  }

  /// Ends it without an answer.
  func cancel() { end(.failure(.cancelled)) }

  private func begin(within timeout: Duration) {
    watcher = DescriptorWatcher(socket.descriptor, on: reactor) { _ in
      self.assumeIsolated { $0.goOn() }
    }
    guard watcher != nil else { return end(.failure(.unavailable)) }
    deadline = LoopTimer(deadline: timeout, on: reactor) {
      self.assumeIsolated { $0.end(.failure(.deadline)) }
    }
    goOn()
  }

  private func goOn() {
    guard !isOver, write() else { return }
    read()
  }

  /// Whether all of the request is written.
  private func write() -> Bool {
    while !request.isEmpty {
      switch socket.send(request) {
      case .bytes(let count): request.removeFirst(count)
      case .wouldBlock:
        watcher?.watch(for: .writable)
        return false
      case .ended:
        end(.failure(.dropped))
        return false
      }
    }
    return true
  }

  private func read() {
    while true {
      let (bytes, transfer) = socket.peek(ProxyAnswer.limit)
      switch transfer {
      case .wouldBlock: return watcher?.watch(for: .readable) ?? ()
      case .ended: return end(.failure(.dropped))
      case .bytes: break
      }
      socket.discard(answer.take(bytes))
      switch answer.state {
      case .incomplete: continue
      case .complete(let head): return end(.success(head))
      case .refused(let seen): return end(.failure(.notProxy(seen: seen)))
      }
    }
  }

  private func end(_ result: Result<ProxyAnswer.Head, Failure>) {
    guard !isOver else { return }
    isOver = true
    deadline?.cancel()
    deadline = nil
    watcher?.close()
    watcher = nil
    head.fulfill(result)
  }
}
