import BridgeErrors
import BridgeFaults
import BridgeReactor
import BridgeSSH
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

/// People, agents and disks that keep threads waiting, in processes of their own: the threads are
/// the process's.
@Suite(.timeLimit(.minutes(5))) struct BlockingTests {
  @Test func openPromptsDoNotHoldUpNameLookups() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      var server = SSHServerConfiguration()
      server.offersKeyboardInteractive = true
      try await withServer(server) { server in
        let asked = AsyncStream<Void>.makeStream()
        let never = AsyncStream<Void>.makeStream()
        var configuration = trusting(server)
        configuration.credentials = [.keyboardInteractive]
        configuration.interaction.answers = { _ in
          asked.continuation.yield()
          for await _ in never.stream {}
          return nil
        }
        let prompts = 8
        let connections = (0..<prompts).map { [configuration] _ in
          SSHConnection(
            to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
        }
        await withTaskGroup { group in
          for connection in connections {
            group.addTask { _ = await failure { try await connection.connect() } }
          }
          var open = 0
          for await _ in asked.stream {
            open += 1
            if open == prompts { break }
          }
          let peer = stranger(to: server.port, host: "localhost")
          var events: [ConnectionEvent] = []
          _ = await failure { try await peer.connect() }
          for await event in peer.events { events.append(event) }
          #expect(events.contains(.entered(.authenticate)))
          for connection in connections { await connection.close() }
        }
      }
    }
  }

  /// As a home directory on a server that does not answer.
  @Test(arguments: [false, true])
  func aFileThatIsNotReadHoldsUpNoCaller(byClosing: Bool) async {
    await #expect(processExitsWith: .success) { [byClosing] in
      ProcessLimit.begin()
      try await withServer { server in
        var configuration = trusting(server)
        configuration.hostKeys = .init(files: [], unknown: .ask)
        configuration.interaction.trust = { _ in
          BusyThreads.occupy()
          return true
        }
        let connection = SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
        let connecting = Task { await failure { try await connection.connect() } }
        for await event in connection.events where event == .entered(.authenticate) { break }
        if byClosing { await connection.close() } else { connecting.cancel() }
        #expect(await connecting.value == .cancelled)
        await connection.close()
        #expect(OpenSockets.to(port: server.port).isEmpty)
      }
    }
  }

  @Test func aKeyFileThatIsNotReadEndsWithThePhase() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      try await withServer { server in
        var configuration = trusting(server)
        configuration.timeouts.authenticate = .milliseconds(300)
        configuration.hostKeys = .init(files: [], unknown: .ask)
        configuration.interaction.trust = { _ in
          BusyThreads.occupy()
          return true
        }
        let connection = SSHConnection(
          to: Endpoint(host: "127.0.0.1", port: server.port), configuration: configuration)
        await expectFailure(
          of: connection, ExpectedFailure(.silent, in: .authenticate, exit: .timedOut))
      }
    }
  }

  @Test func aKnownHostsFileThatIsNotWrittenDoesNotKeepTheConnectionFromComing() async {
    await #expect(processExitsWith: .success) {
      ProcessLimit.begin()
      let directory = try TemporaryDirectory()
      let peer = try ScriptedSSHServer { client, _ in
        try client.admit()
        try client.listenToTheEnd()
      }
      var configuration = SSHConfiguration(
        user: "somebody", hostKeys: .init(files: [directory.file("known_hosts")], unknown: .ask))
      configuration.timeouts.handshake = .seconds(15)
      configuration.interaction.trust = { _ in
        BusyThreads.occupy()
        return true
      }
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: peer.port), configuration: configuration)
      #expect(await failure { try await connection.connect() } == nil)
      let warnings = await connection.warnings
      #expect("\(warnings)".contains("known_hosts"))
      #expect(await connection.addedHostKey == nil)
      await connection.close()
      peer.stop()
    }
  }
}

/// Work that never ends on every thread for local files.
enum BusyThreads {
  static func occupy() {
    let never = DispatchSemaphore(value: 0)
    for _ in 0..<64 { BlockingThreads.files.start { never.wait() } }
  }
}
