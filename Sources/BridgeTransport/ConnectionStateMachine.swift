public import BridgeErrors

/// The life of one connection: idle, connecting through phases, connected, closing, closed.
///
/// It decides which events a connection may yield and when to tear down, each once; what comes too
/// late or twice is ignored and counted.
public struct ConnectionStateMachine: Sendable, Equatable {
  /// The states of a connection, in the order in which it passes through them.
  public enum State: Sendable, Equatable {
    /// Not opened yet.
    case idle
    /// On its way; the phase is nil until the first one begins.
    case connecting(ConnectionPhase?)
    /// Usable.
    case connected
    /// Its end is decided, and its descriptor is being closed.
    case closing
    /// Nothing is left of it.
    case closed
  }

  /// An input of the machine.
  public enum Input: Sendable, Equatable {
    /// It shall connect.
    case connect
    /// A phase began.
    case enter(ConnectionPhase)
    /// Authenticated and usable.
    case ready
    /// It failed or was lost.
    case fail(ConnectionError)
    /// It shall close.
    case close
    /// Descriptor closed, native session freed.
    case tornDown
  }

  /// An effect, to be carried out in order.
  public enum Effect: Sendable, Equatable {
    /// Sends this event to the reader.
    case yield(ConnectionEvent)
    /// Close the descriptor and free the session.
    case tearDown
  }

  /// The state.
  public private(set) var state = State.idle
  /// The failure that ended it; nil while none has.
  public private(set) var failure: ConnectionError?
  /// Inputs that came too late, twice or out of order.
  public private(set) var ignored = 0

  /// A connection that was not opened yet.
  public init() {}

  /// Takes an input and returns the effects.
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
