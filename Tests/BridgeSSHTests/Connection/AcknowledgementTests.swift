import BridgeErrors
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

@testable import BridgeSSH

/// sshd turns Nagle's algorithm off when it starts a command. Until then its kernel keeps an answer
/// back until ours has acknowledged the one before, which it would do after 40 ms.
@Suite(.timeLimit(.minutes(5))) struct AcknowledgementTests {
  @Test func whatComesIsAcknowledgedAtOnceUntilACommandHasStarted() async throws {
    let (requested, answer) = (Latch(), DispatchSemaphore(value: 0))
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      requested.open()
      answer.wait()
      try client.say(99) { $0.uint32(number) }
      try client.listenToTheEnd()
    }) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "user", hostKeys: .anyKey))
      try await connection.connect()
      let starting = Task { try await connection.execute("true") }
      await requested.wait()
      #expect(await connection.session?.wire.acknowledgesAtOnce == true)
      answer.signal()
      _ = try await starting.value
      #expect(await connection.session?.wire.acknowledgesAtOnce == false)
      await connection.close()
    }
  }
}
