import BridgeWaiting
import Foundation
import Glibc
import Testing

/// An SSH server on loopback whose every word after the key exchange is a test's: for what no real
/// server can be brought to say.
final class ScriptedSSHServer: Sendable {
  /// What the server does once keys are agreed; `record` stores what a test checks.
  typealias Script = @Sendable (_ client: ServerTalk, _ record: (String) -> Void) throws -> Void

  let port: Int
  private let listener: Int32
  private let heard = Mutex<[String]>([])
  private let clients = Mutex<[Int32]>([])
  private let isDone = DispatchSemaphore(value: 0)

  /// What scripts wrote down, in order.
  var collected: [String] { heard.withLock { $0 } }

  /// Serves one client after the other: keys first, then what `script` does.
  ///
  /// - Parameters:
  ///   - forges: shows a host key without having its private half.
  ///   - manner: how strict it is about the exchange of keys.
  init(
    forges: Bool = false, manner: ServerTalk.KeyExchangeManner = .lax, _ script: @escaping Script
  ) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        guard unsafe bind(listener, $0, size) == 0 else { return false }
        return unsafe getsockname(listener, $0, &size) == 0
      }
    }
    guard bound, listen(listener, 4) == 0 else { throw POSIXError(.EADDRINUSE) }
    self.listener = listener
    port = Int(UInt16(bigEndian: address.sin_port))
    let (heard, clients, isDone) = (heard, clients, isDone)
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { break }
        clients.withLock { $0.append(client) }
        let talk = ServerTalk(client)
        do {
          try talk.agree(forges: forges, manner: manner)
          try script(talk) { word in heard.withLock { $0.append(word) } }
        } catch {}
        clients.withLock { $0.removeAll { $0 == client } }
        // A program that another test started meanwhile may have inherited it: closing is no end.
        shutdown(client, Int32(SHUT_RDWR))
        close(client)
      }
      isDone.signal()
    }
  }

  /// Ends the listener and the conversation under way.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    clients.withLock { for client in $0 { shutdown(client, Int32(SHUT_RDWR)) } }
    // A script that waits for what never comes must not hold the other tests up as well.
    #expect(isDone.wait(timeout: .now() + .seconds(30)) == .success, "its script goes on")
    close(listener)
  }
}
