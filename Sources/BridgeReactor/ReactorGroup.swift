import BridgeTransport
import BridgeWaiting

/// Several reactors, started on first use; connections are spread over them in turn.
public final class ReactorGroup: Sendable {
  /// One reactor per core, for the whole process.
  public static let shared = ReactorGroup(count: Processors.count)

  private struct State {
    var reactors: [Reactor] = []
    var next = 0
  }

  private let count: Int
  private let state = Mutex(State())

  /// At most `count` reactors (at least one); none is started yet.
  public init(count: Int) {
    self.count = max(1, count)
  }

  /// The next reactor in turn; starts it when it is the first use. Where descriptors or threads
  /// have run out, one of those that run already; the first one makes its loop later then.
  public func next() -> Reactor {
    state.withLock { state in
      var index = state.next
      if index == state.reactors.count {
        let name = "bridge-reactor-\(index)"
        if index == 0 {
          state.reactors.append(Reactor(name: name))
        } else if let reactor = Reactor.complete(name: name) {
          state.reactors.append(reactor)
        } else {
          index = 0
        }
      }
      state.next = (index + 1) % count
      return state.reactors[index]
    }
  }

  /// Stops every reactor that was started. Close what is pinned to them first.
  public func stop() async {
    let reactors = state.withLock { state in
      defer { state = State() }
      return state.reactors
    }
    for reactor in reactors { await reactor.stop() }
  }
}
