/// The state machine of one connection with the stream of its events.
package struct ConnectionLife {
  /// Steps of this connection, oldest first; ends with `.closed`. One reader.
  package let events: AsyncStream<ConnectionEvent>

  private let sink: AsyncStream<ConnectionEvent>.Continuation
  private var machine = ConnectionStateMachine()

  /// The life of a connection that was not opened yet.
  package init() {
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  /// The state.
  package var state: ConnectionStateMachine.State { machine.state }

  /// Takes an input and emits its events; true when the connection must now tear down.
  package mutating func step(_ input: ConnectionStateMachine.Input) -> Bool {
    var mustTearDown = false
    for effect in machine.step(input) {
      switch effect {
      case .yield(let event):
        sink.yield(event)
        if event == .closed { sink.finish() }
      case .tearDown:
        mustTearDown = true
      }
    }
    return mustTearDown
  }
}
