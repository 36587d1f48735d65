import BridgeErrors
import BridgeReactor
import BridgeTransport

/// A port that the server listens on for us, and what to do with a connection to it.
struct RemoteListener {
  let native: NativeListener
  let arrived: @Sendable (ChannelCarrier, String) -> Void
}

// Ports of the server that lead here (RFC 4254, 7.1).
extension SSHConnection {
  /// Asks the server to listen on `port` of `address`, 0 for any free one; returns the port.
  ///
  /// The answer comes behind what was sent before: there is no time limit but the connection's end.
  /// `arrived` is called on the reactor's thread with the channel of each connection and where that
  /// came from, raw. The library takes any answer to a global request for the one to its own: no
  /// tunnel may ever have been opened over this connection (`hear(_:heard:)`).
  func listen(
    on address: String, port: Int, arrived: @escaping @Sendable (ChannelCarrier, String) -> Void
  ) async -> Outcome<Int> {
    asksForPorts = true
    let outcome: Outcome<NativeListener> = await wait(phase: .openChannel, within: nil) {
      connection, id, answer in
      connection.queueQuestion(id) {
        $0.listen(on: address, port: port)
      } answered: { connection, listener in
        if connection.callers.take(id) != nil { return answer(.success(listener)) }
        // The server listens: what comes must be taken.
        connection.listeners.append(
          RemoteListener(native: listener) { carrier, _ in carrier.close() })
      } failed: { connection, code, text in
        let failure = connection.failure(code: code, text: text, phase: .openChannel)
        connection.fail(id, with: failure)
      }
      connection.pump()
    }
    switch outcome {
    case .failure(let failure): return .failure(failure)
    case .success(let native):
      guard ending == nil else { return .failure(ending ?? failure(phase: .openChannel)) }
      listeners.append(RemoteListener(native: native, arrived: arrived))
      // Acknowledges the answer, behind which the server's kernel keeps back a first connection
      // (`promptReply`); it is not answered.
      session?.sendKeepalive()
      // Some may have come with the answer.
      queueTurn()
      return .success(native.place.port)
    }
  }

  /// Takes the channels that the server has opened.
  func stepListeners() {
    for listener in listeners {
      while session != nil, ending == nil, takeArrival(of: listener) {}
    }
  }

  /// How many channels a server may have opened, those counted whose end it does not confirm.
  private static let mostArrivals = 1280

  /// False when none waits, or the connection ended over it.
  private func takeArrival(of listener: RemoteListener) -> Bool {
    switch listener.native.accept() {
    case .again: return false
    case .failed(let code, let text):
      end(now: failure(code: code, text: text, phase: .stream))
      return false
    case .done((let native, let originator)):
      guard openChannels < Self.mostArrivals else {
        let text = "the server opens channels and does not close them"
        end(now: failure(code: .protocolError, text: text, phase: .stream))
        return false
      }
      listener.arrived(makeCarrier(native, NativeListener.window), originator)
      return true
    }
  }
}
