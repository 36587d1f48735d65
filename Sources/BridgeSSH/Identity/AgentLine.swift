import BridgeReactor
import BridgeWaiting

/// A connection to an ssh-agent that carries the requests of another program. It is made with the
/// first one: an agent that comes later is found then.
package final class AgentLine: Sendable {
  private let path: String
  private let timeout: Duration
  private let socket = Mutex(AgentSocket?.none)

  /// A connection to the agent at `path`, which may take `timeout` for each answer: it may ask its
  /// owner first.
  package init(path: String, timeout: Duration) {
    self.path = path
    self.timeout = timeout
  }

  /// The answer to a request, both without their lengths in front; nil where the agent gives none.
  package func ask(_ request: [UInt8]) async -> [UInt8]? {
    let answer = await BlockingThreads.prompts.run { [self] () -> [UInt8]? in
      socket.withLock { socket -> [UInt8]? in
        do throws(AgentProblem) {
          if socket == nil { socket = try AgentSocket(path: path, timeout: timeout) }
          return try socket?.relay(request)
        } catch {
          socket = nil
          return nil
        }
      }
    }
    return answer.flatMap { $0 }
  }
}
