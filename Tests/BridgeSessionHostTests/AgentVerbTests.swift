import BridgeSessionProtocol
import Foundation
import Testing

@testable import BridgeSessionHost

/// `bridge-host agent`: a client's ssh-agent at a socket of the host. The programs that ask are
/// OpenSSH's own.
@Suite struct AgentVerbTests {
  private final class Forward {
    let process: RunningProcess
    let socket: String
    private var output: [UInt8] = []
    private var parser = AgentParser.messages

    deinit {
      process.end()
      // One that is killed leaves it.
      let folder = URL(filePath: socket).deletingLastPathComponent()
      try? FileManager.default.removeItem(at: folder)
    }

    init(_ bench: SessionBench, _ token: Identifier) throws {
      socket = "\(AgentMessage.directory(token))/\(AgentMessage.socket)"
      process = try bench.launch(["agent", "--run", "\(token)", "--marker", SessionBench.marker])
      let marker = Array(SessionBench.marker.utf8)
      try waitUntil {
        if case .bytes(let bytes) = process.output.read(4096) { output += bytes }
        return output.starts(with: marker)
      }
      parser.append(Array(output[marker.count...]))
    }

    /// The next message for the client.
    func next() throws -> AgentMessage {
      var message: AgentMessage?
      try waitUntil {
        if case .bytes(let bytes) = process.output.read(64 << 10) { parser.append(bytes) }
        message = try parser.next()
        return message != nil
      }
      return try #require(message)
    }

    func answer(_ message: AgentMessage) throws {
      let bytes = message.encoded
      var sent = 0
      try waitUntil {
        if case .wrote(let count)? = process.input?.write(bytes, from: sent) { sent += count }
        return sent == bytes.count
      }
    }

    /// A program that lists the keys.
    func list() throws -> RunningProcess {
      try RunningProcess(["/usr/bin/ssh-add", "-l"], environment: ["SSH_AUTH_SOCK": socket])
    }
  }

  private let bench: SessionBench
  private let token = Identifier(high: Machine.entropy(), low: Machine.entropy())
  /// SSH_AGENT_IDENTITIES_ANSWER without keys.
  private static let noKeys: [UInt8] = [12, 0, 0, 0, 0]
  /// What ssh-add ends with where an agent has none, and where no agent answers: ssh-add(1).
  private static let (emptyStatus, deadStatus): (Int32, Int32) = (1, 2)

  init() throws { bench = try SessionBench() }

  @Test func programsAskTheClientAndHaveTheirOwnAnswers() throws {
    let forward = try Forward(bench, token)
    let (first, second) = (try forward.list(), try forward.list())
    let requests = [try forward.next(), try forward.next()]
    #expect(requests.allSatisfy { $0.body == [11] })
    #expect(Set(requests.map(\.connection)).count == 2)
    for request in requests.reversed() {
      try forward.answer(AgentMessage(request.connection, Self.noKeys))
    }
    #expect(first.finish().status == Self.emptyStatus)
    #expect(second.finish().status == Self.emptyStatus)
    // Their ends are the client's to know.
    let ends = [try forward.next(), try forward.next()]
    #expect(Set(ends) == Set(requests.map { AgentMessage($0.connection, []) }))
  }

  @Test func aProgramThatLeavesBeforeItsAnswerIsForgotten() throws {
    let forward = try Forward(bench, token)
    let program = try forward.list()
    let request = try forward.next()
    program.end()
    #expect(try forward.next() == AgentMessage(request.connection, []))
    // It comes too late, and harms no other.
    try forward.answer(AgentMessage(request.connection, Self.noKeys))
    let other = try forward.list()
    try forward.answer(AgentMessage(try forward.next().connection, Self.noKeys))
    #expect(other.finish().status == Self.emptyStatus)
  }

  @Test func theClientMayEndAProgramsConnection() throws {
    let forward = try Forward(bench, token)
    let program = try forward.list()
    try forward.answer(AgentMessage(try forward.next().connection, []))
    #expect(program.finish().status == Self.emptyStatus)
  }

  @Test func withTheClientTheSocketGoes() throws {
    let forward = try Forward(bench, token)
    #expect(FileManager.default.fileExists(atPath: forward.socket))
    let program = try forward.list()
    _ = try forward.next()
    forward.process.closeInput()
    #expect(forward.process.exitStatus() == 0)
    #expect(program.finish().status != 0)
    #expect(!FileManager.default.fileExists(atPath: AgentMessage.directory(token)))
  }

  /// The link of the first has not ended yet for the host.
  @Test func theNextChannelOfAClientTakesThePlace() throws {
    let first = try Forward(bench, token)
    let second = try Forward(bench, token)
    #expect(first.process.exitStatus() != 0)
    let program = try second.list()
    try second.answer(AgentMessage(try second.next().connection, Self.noKeys))
    #expect(program.finish().status == Self.emptyStatus)
  }

  /// The client has one request of a program at a time, and no answer overwrites another.
  @Test func aProgramThatAsksAheadHasEachAnswerWhole() throws {
    let forward = try Forward(bench, token)
    let script =
      "import socket,struct,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);"
      + "s.sendall(b''.join(b'\\0\\0\\0\\2\\x0b'+bytes([n]) for n in range(3)));"
      + "f=s.makefile('rb');sys.stdin.read(1);"
      + "f.peek(1);import time;time.sleep(.2);"
      + "a=[f.read(struct.unpack('>I',f.read(4))[0]) for _ in range(3)];"
      + "sys.exit(3 if a==[bytes([n])*262144 for n in range(3)] else 4)"
    let program = try RunningProcess(
      ["/usr/bin/python3", "-c", script, forward.socket], environment: [:])
    for number in 0..<3 as Range<UInt8> {
      let request = try forward.next()
      #expect(request.body == [11, number])
      try forward.answer(
        AgentMessage(request.connection, [UInt8](repeating: number, count: AgentMessage.longest)))
      // It reads slowly, and an answer is more than its socket takes.
      if number == 0 { #expect(program.input?.write([10], from: 0) == .wrote(1)) }
    }
    #expect(program.finish().status == 3)
  }

  /// What is no agent's request, and a client that breaks the stream.
  @Test func nonsenseEndsOnlyItself() throws {
    let forward = try Forward(bench, token)
    let script =
      "import socket,sys;s=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1]);"
      + "s.send(b'GET / HTTP/1.1\\r\\n\\r\\n');sys.exit(3 if s.recv(9)==b'' else 4)"
    let program = try RunningProcess(
      ["/usr/bin/python3", "-c", script, forward.socket], environment: [:])
    #expect(program.finish().status == 3)
    #expect(try forward.next().body.isEmpty)
    let other = try forward.list()
    let request = try forward.next()
    let broken = Array(AgentMessage(request.connection, []).encoded.prefix(4)) + [255, 0, 0, 0]
    #expect(forward.process.input?.write(broken, from: 0) == .wrote(broken.count))
    #expect(forward.process.exitStatus() == 0)
    #expect(other.finish().status != 0)
  }

  @Test func aDirectoryThatOthersMayUseIsNone() throws {
    let folder = AgentMessage.directory(token)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false,
      attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let forward = try Forward(bench, token)
    let message = try forward.next()
    #expect(message.connection == 0)
    #expect(String(decoding: message.body, as: UTF8.self).contains("cannot be made"))
    #expect(forward.process.exitStatus() != 0)
  }
}
