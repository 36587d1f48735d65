import BridgeFaults
import Foundation
import Testing

@Suite("A real dropbear of our own", .timeLimit(.minutes(5)))
struct DropbearServerTests {
  @Test(arguments: [SSHKeyType.ed25519, .ecdsa])
  func showsItsKeyAndRefusesTheLogin(hostKey: SSHKeyType) async throws {
    let server = try await DropbearServer(hostKey: hostKey)
    let pinned = "\(NSTemporaryDirectory())/dropbear-\(server.port)"
    try await server.knownHosts.write(toFile: pinned, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: pinned) }
    let client = OpenSSHClient(
      port: server.port, user: "root", identityFile: "/dev/null", knownHosts: pinned)
    let answer = try await client.run("true")
    #expect(answer.status == 255)
    #expect(answer.errors.contains("Permission denied (publickey)"), "\(answer.errors)")
    await server.stop()
  }

  @Test func comesBackOnTheSamePortAndIsGoneWhenStopped() async throws {
    let server = try await DropbearServer()
    let client = OpenSSHClient(port: server.port, user: "root", identityFile: "/dev/null")
    try await server.restart()
    #expect(try await client.run("true").errors.contains("Permission denied"))
    await server.stop()
    #expect(try await client.run("true").errors.contains("Connection refused"))
  }
}
