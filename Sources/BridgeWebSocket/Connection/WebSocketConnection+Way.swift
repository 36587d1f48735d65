import BridgeErrors
import BridgeReactor
import BridgeTransport

/// A socket to the server that is not dialed over the network here.
extension WebSocketConnection {
  /// A connection to the unix socket at `path`: of what connect(2) says there is nothing to wait
  /// for.
  func socket(at path: String) throws(WebSocketFailure) -> Socket {
    enter(.dial)
    do throws(ListeningSocket.Failure) {
      return try Socket.connected(toPath: path)
    } catch {
      throw failure(.dial(errno: error.errno), in: .dial)
    }
  }

  /// The socket that `source` makes, within the time of a dial; one that comes later is closed.
  func socket(from source: any SocketSource) async throws(WebSocketFailure) -> Socket {
    enter(.dial)
    let outcome: Outcome<Result<Socket, ConnectionError>> = await wait(
      phase: .dial, within: configuration.timeouts.dial
    ) { connection, id, answer in
      connection.making = Task(executorPreference: reactor) { [weak connection, reactor] in
        let made: Result<Socket, ConnectionError>
        do throws(ConnectionError) {
          made = .success(try await source.socket())
        } catch {
          made = .failure(error)
        }
        reactor.execute { [weak connection] in
          let isWanted = connection?.assumeIsolated { $0.callers.take(id) != nil } ?? false
          guard !isWanted else { return answer(.success(made)) }
          if case .success(let socket) = made { socket.close() }
        }
      }
    }
    making?.cancel()
    making = nil
    let made = try outcome.get()
    switch made {
    case .success(let socket):
      guard let ending else { return socket }
      socket.close()
      throw ending
    case .failure(let error): throw ending ?? failure(.elsewhere(error), in: .dial)
    }
  }
}
