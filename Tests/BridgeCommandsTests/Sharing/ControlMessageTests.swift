import BridgeCommands
import BridgeSSH
import BridgeTransport
import Testing

/// Requests and replies of PROTOCOL.mux.
@Suite struct ControlMessageTests {
  private static let rules = [
    ForwardRule(from: .port(address: nil, 8080), to: .fixed(.port(Endpoint(host: "h", port: 80)))),
    ForwardRule(from: .port(address: "*", 1), to: .dynamic),
    ForwardRule(from: .socket(path: "/a"), to: .fixed(.socket(path: "/b"))),
    ForwardRule(
      from: .port(address: "::1", 0), to: .fixed(.port(Endpoint(host: "h", port: 65535))),
      on: .remote), ForwardRule(from: .port(address: nil, 9), to: .dynamic, on: .remote),
  ]

  private static var requests: [ControlRequest] {
    var shell = ControlRequest.Session(.shell)
    (shell.terminal, shell.escape) = ("xterm", 126)
    var command = ControlRequest.Session(.shell)
    command.environment = [EnvironmentVariable("LANG", "C"), EnvironmentVariable("E", "")]
    return [
      .hello(version: 4), .session(1, shell), .session(2, command), .alive(3), .exit(4), .stop(5),
      .carry(8, .port(Endpoint(host: "h", port: 22))), .carry(9, .socket(path: "/s")),
    ] + rules.map { .forward(6, $0) } + rules.map { .cancel(7, $0) }
  }

  private static let replies: [ControlReply] = [
    .hello(version: 4, saysEnds: false), .hello(version: 4, saysEnds: true), .done(1),
    .denied(2, "no"), .failed(3, "é"),
    .ended(session: 4, status: 255),
    .alive(5, process: 77), .opened(6, session: 1), .port(7, 40_000), .withoutTerminal(session: 8),
  ]

  private static func body(_ packet: [UInt8]) -> [UInt8] { Array(packet.dropFirst(4)) }

  @Test func whatIsWrittenIsReadAsItWas() {
    for request in Self.requests {
      #expect(ControlRequest(Self.body(request.packet)) == request)
      #expect(Int(request.packet[3]) == request.packet.count - 4)
    }
    for reply in Self.replies { #expect(ControlReply(Self.body(reply.packet)) == reply) }
  }

  /// Byte for byte as OpenSSH 9.2 sends it for `ssh -tt HOST true`, without its environment.
  @Test func aSessionIsAsOpenSSHHasIt() throws {
    var session = ControlRequest.Session(try RemoteProgram(command: Array("true".utf8)))
    (session.terminal, session.escape) = ("vt100", UInt8(ascii: "~"))
    let packet: [UInt8] =
      [0, 0, 0, 49, 0x10, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0] + [0, 0, 0, 1, 0, 0, 0, 0]
      + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7E] + [0, 0, 0, 5] + Array("vt100".utf8)
      + [0, 0, 0, 4] + Array("true".utf8)
    #expect(ControlRequest.session(1, session).packet == packet)
  }

  /// Each cut, and each bit that is another: none ends the process, and a cut is no message.
  @Test func whatIsDamagedIsReadOrRefused() {
    for request in Self.requests {
      let body = Self.body(request.packet)
      for count in 0..<body.count {
        let read = ControlRequest(Array(body[..<count]))
        // What is left out at the end of an environment is no less of a session.
        if case .session = request { continue }
        #expect(read == nil || read?.packet.count != request.packet.count)
      }
      for bit in 0..<body.count * 8 {
        var changed = body
        changed[bit / 8] ^= 1 << (bit % 8)
        _ = ControlRequest(changed)
        _ = ControlRequest.descriptorCount(behind: changed)
      }
    }
    for reply in Self.replies {
      let body = Self.body(reply.packet)
      for count in 0..<body.count {
        let read = ControlReply(Array(body[..<count]))
        // An extension that is cut is none.
        if case .hello = reply, count >= 8 { continue }
        #expect(read == nil)
      }
      for bit in 0..<body.count * 8 {
        var changed = body
        changed[bit / 8] ^= 1 << (bit % 8)
        _ = ControlReply(changed)
      }
    }
  }

  @Test func descriptorsFollowASession() {
    let session = ControlRequest.session(1, ControlRequest.Session(.shell))
    #expect(ControlRequest.descriptorCount(behind: Self.body(session.packet)) == 3)
    #expect(ControlRequest.descriptorCount(behind: Self.body(ControlRequest.alive(1).packet)) == 0)
    let carried = ControlRequest.carry(1, .socket(path: "/s"))
    #expect(ControlRequest.descriptorCount(behind: Self.body(carried.packet)) == 2)
    #expect(ControlRequest.descriptorCount(behind: []) == 0)
  }

  /// What is no port, no target or no command.
  @Test func aRequestThatSaysNothingIsNone() throws {
    func forward(_ numbers: [UInt32], _ near: String, _ far: String) -> [UInt8] {
      var writer = WireWriter()
      for number in [0x1000_0006, 1, numbers[0]] { writer.uint32(number) }
      writer.string(near)
      writer.uint32(numbers[1])
      writer.string(far)
      writer.uint32(numbers[2])
      return writer.bytes
    }
    #expect(ControlRequest(forward([1, 80, 80], "", "h")) != nil)
    for numbers: [UInt32] in [
      [0, 80, 80], [4, 80, 80], [1, 65536, 80], [1, 80, 65536], [1, 80, 0],
    ] {
      #expect(ControlRequest(forward(numbers, "", "h")) == nil, "\(numbers)")
    }
    #expect(ControlRequest(forward([1, 80, 80], "", "")) == nil)
    #expect(ControlRequest(forward([1, 0xFFFF_FFFE, 80], "", "h")) == nil)
    #expect(ControlRequest(forward([1, 80, 80], "", "h") + [0]) == nil)
  }
}
