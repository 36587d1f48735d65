import Bridge
import Foundation

/// Sends `greeting` on every connection and prints the messages, until the server closes.
///
/// - Throws: what no further connection would heal.
func exchange(with url: WebSocketEndpoint, saying greeting: String) async throws(AppError) {
  let supervisor = Supervisor(clock: ContinuousClock())
  let events = supervisor.events()
  let use = { @Sendable (socket: WebSocketConnection) in
    do throws(AppError) {
      try await socket.send(text: greeting)
      for try await message in socket.messages { show(message) }
    } catch {
      // The supervisor has the failure and brings the next connection.
    }
  }
  try await supervisor.add("messages", to: url.endpoint, onConnected: use) { _ in
    WebSocketConnection(to: url)
  }
  var outcome: AppError?
  // They end when nothing is left: what came last is printed by then.
  for await event in events {
    switch event.step {
    case .failed(let failure): print("lost: \(failure.error.userMessage)")
    case .recovered(_, let attempts, isFirst: false): print("back, attempt \(attempts)")
    case .gaveUp(let failure, _):
      outcome = failure.error
      await supervisor.shutDown()
    default: break
    }
  }
  guard let outcome else { return }
  // The server's close handshake, whatever its reason.
  if case .webSocketDisconnected(code: 1000, _) = outcome { return }
  throw outcome
}

func show(_ message: WebSocketMessage) {
  switch message {
  case .text(let text): print("\"\(PeerText.escaped(text))\"")
  case .binary(let bytes): print("\(bytes.count) bytes")
  }
}

/// Messages over a link that is kept up: `supervised-messages URL GREETING`.
@main enum SupervisedMessages {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
      print("usage: supervised-messages URL GREETING")
      exit(64)
    }
    do throws(AppError) {
      try await exchange(with: try WebSocketEndpoint(arguments[1]), saying: arguments[2])
    } catch {
      print("\(error.caseName): \(error.userMessage)")
      exit(1)
    }
  }
}
