/// The state machine of one connection with the stream that tells its steps.
package struct ConnectionLife {
  /// Steps of this connection, oldest first; ends with `.closed`. One reader.
  package let events: AsyncStream<ConnectionEvent>

  private let sink: AsyncStream<ConnectionEvent>.Continuation
  private var machine = ConnectionStateMachine()

  /// The life of a connection that was not asked for yet.
  package init() {
    (events, sink) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  /// Where it stands.
  package var state: ConnectionStateMachine.State { machine.state }

  /// Takes `input` in and tells what follows; true when the connection must now tear down.
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
