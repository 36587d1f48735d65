public import BridgeErrors

/// The life of one connection: idle, connecting through phases, connected, closing, closed.
///
/// It says which events a connection may yield and when to tear down, each once; whatever comes too
/// late or twice is ignored and counted.
public struct ConnectionStateMachine: Sendable, Equatable {
  /// Where it stands.
  public enum State: Sendable, Equatable {
    case idle
    case connecting(ConnectionPhase?)
    case connected
    case closing
    case closed
  }

  /// What happened.
  public enum Input: Sendable, Equatable {
    /// Somebody asked to connect.
    case connect
    /// A phase began.
    case enter(ConnectionPhase)
    /// Authenticated and usable.
    case ready
    /// It failed or was lost.
    case fail(ConnectionError)
    /// Somebody asked to close.
    case close
    /// Descriptor closed, native session freed.
    case tornDown
  }

  /// What to do, in this order.
  public enum Effect: Sendable, Equatable {
    case yield(ConnectionEvent)
    case tearDown
  }

  /// Where it stands.
  public private(set) var state = State.idle
  /// What ended it; nil while nothing has.
  public private(set) var failure: ConnectionError?
  /// Inputs that came too late, twice or out of order.
  public private(set) var ignored = 0

  /// A connection that was not asked for yet.
  public init() {}

  /// Takes `input` in and says what to do.
  public mutating func step(_ input: Input) -> [Effect] {
    switch (state, input) {
    case (.idle, .connect):
      state = .connecting(nil)
      return []
    case (.connecting(let current), .enter(let phase)) where current != phase:
      state = .connecting(phase)
      return [.yield(.entered(phase))]
    case (.connecting, .ready):
      state = .connected
      return [.yield(.connected)]
    case (.connected, .enter(let phase)):
      return [.yield(.entered(phase))]
    case (.connecting, .fail(let error)), (.connected, .fail(let error)):
      state = .closing
      failure = error
      return [.yield(.failed(error)), .tearDown]
    case (.connecting, .close), (.connected, .close):
      state = .closing
      return [.tearDown]
    case (.idle, .close), (.closing, .tornDown):
      state = .closed
      return [.yield(.closed)]
    case (.idle, _), (.connecting, _), (.connected, _), (.closing, _), (.closed, _):
      ignored += 1
      return []
    }
  }
}
