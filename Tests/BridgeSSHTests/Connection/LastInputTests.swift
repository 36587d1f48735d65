import BridgeErrors
import BridgeFaults
import BridgeTestKit
import BridgeTransport
import Foundation
import Testing

@testable import BridgeSSH

/// Input that is written right before the connection is closed.
@Suite(.timeLimit(.minutes(2))) struct LastInputTests {
  /// A command that keeps the first line of its input in `file`.
  private func keeping(_ file: URL) -> String {
    "head -n 1 > '\(file.path).part' && mv '\(file.path).part' '\(file.path)'"
  }

  private func text(of file: URL) async throws -> String {
    try await eventually { FileManager.default.fileExists(atPath: file.path) }
    return try String(contentsOf: file, encoding: .utf8)
  }

  private func withDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appending(
      path: "bridge-last-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
  }

  @Test func sshdPassesItOn() async throws {
    try await withDirectory { directory in
      try await withServer { server in
        for number in 1...10 {
          let file = directory.appending(path: "\(number)")
          try await withConnection(to: server) { connection in
            #expect(await connection.deliversLastInput)
            let command = try await connection.execute(keeping(file))
            try await command.write(Array("line \(number)\n".utf8))
            await connection.close()
          }
          #expect(try await text(of: file) == "line \(number)\n")
        }
      }
    }
  }

  @Test func alsoBehindAJumpHost() async throws {
    try await withDirectory { directory in
      try await withServer { server in
        for number in 1...5 {
          let file = directory.appending(path: "\(number)")
          try await withConnection(to: server) { bastion in
            let connection = SSHConnection(
              to: Endpoint(host: "127.0.0.1", port: server.port), configuration: trusting(server),
              through: bastion)
            try await connection.connect()
            #expect(await connection.deliversLastInput)
            let command = try await connection.execute(keeping(file))
            try await command.write(Array("line \(number)\n".utf8))
            await connection.close()
            await bastion.close()
          }
          #expect(try await text(of: file) == "line \(number)\n")
        }
      }
    }
  }

  /// What has nothing to lose says why it goes.
  @Test func aConnectionWithoutInputEndsWithAMessage() async throws {
    let reasons = AsyncStream<UInt8?>.makeStream()
    try await withScript({ client, _ in
      try client.admit()
      let number = try client.openRequest()
      try client.confirmChannel(number)
      _ = try client.expect(98)
      try client.sendTogether([
        client.message(99, of: number), client.exitStatus(of: number),
        client.message(96, of: number), client.message(97, of: number),
      ])
      var last: UInt8?
      while let packet = try? client.receive() {
        var reader = WireReader(packet)
        last = reader.byte()
        if last == 1 { break }
      }
      reasons.continuation.yield(last)
      reasons.continuation.finish()
    }) { server in
      let connection = SSHConnection(
        to: Endpoint(host: "127.0.0.1", port: server.port),
        configuration: SSHConfiguration(user: "user", credentials: [], hostKeys: .anyKey))
      try await connection.connect()
      let command = try await connection.execute("true")
      #expect(try await command.exitStatus() == .status(0))
      await connection.close()
      #expect(await !connection.deliversLastInput)
      for await last in reasons.stream { #expect(last == 1) }
    }
  }
}
