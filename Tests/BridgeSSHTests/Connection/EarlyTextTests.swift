import BridgeErrors
import BridgeFaults
import BridgeSSH
import BridgeTransport
import Testing

/// Hosts that print something before their version line (RFC 4253, 4.2), and a version line that is
/// too long.
@Suite(.timeLimit(.minutes(2))) struct EarlyTextTests {
  /// Listens, prints its port, says the text of each connection, and carries it to a port, the
  /// first bytes one at a time. Without a port it says nothing more.
  private static let speaker = """
    import socket,sys,threading
    text=eval(sys.argv[2])
    s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(8)
    print(s.getsockname()[1],flush=True)
    def carry(a,b,left):
        try:
            while True:
                d=a.recv(1 if left>0 else 65536)
                if not d: break
                b.sendall(d); left-=1
            b.shutdown(socket.SHUT_WR)
        except OSError: pass
    while True:
        c,_=s.accept()
        c.setsockopt(socket.IPPROTO_TCP,socket.TCP_NODELAY,1)
        c.sendall(text)
        if sys.argv[1]=="0": continue
        t=socket.create_connection(("127.0.0.1",int(sys.argv[1])))
        for x in ((c,t,0),(t,c,40)): threading.Thread(target=carry,args=x,daemon=True).start()
    """

  /// All of these ssh takes.
  @Test(arguments: [
    #"b"\n""#, #"b"\r\n""#, #"b"a\n\nb\r\n""#, #"b"SSH is only for staff\n""#, #"b"SS\nSSH\n""#,
    #"b"Starting session\x07\x08\n""#, #"b"twenty-four bytes a line\n"*500"#,
    #"(b"x"*8192+b"\r\n")*100"#,
  ])
  func aHostThatPrintsFirst(text: String) async throws {
    try await withServer { server in
      let speaker = try await Program.started(
        "python3", "-c", Self.speaker, "\(server.port)", text)
      try await withConnection(to: server, at: speaker.port) { connection in
        let command = try await connection.execute("exit 3")
        #expect(try await command.exitStatus() == .status(3))
      }
    }
  }

  @Test(arguments: [#"b"x\n"*1100"#, #"b"x"*9000"#])
  func aHostThatPrintsTooMuch(text: String) async throws {
    let speaker = try await Program.started("python3", "-c", Self.speaker, "0", text)
    let error = await expectFailure(
      of: stranger(to: speaker.port),
      ExpectedFailure(.notTheProtocol, in: .banner, exit: .protocolBroken))
    #expect("\(error)".contains(#"the first line was \"x"#), "\(error)")
  }

  /// Neither the host nor the port is wrong, and no captive portal answers.
  @Test func aVersionLineThatIsTooLongIsNamed() async throws {
    let speaker = try await Program.started(
      "python3", "-c", Self.speaker, "0", #"b"SSH-2.0-OpenSSH_9.2p1 "+b"x"*300+b"\r\n""#)
    let connection = stranger(to: speaker.port)
    let error = await expectFailure(
      of: connection,
      ExpectedFailure(.versionLineTooLong, in: .banner, exit: .protocolBroken))
    let context = await connection.lastFailure
    #expect(error.shownMessage(in: context).contains("255 bytes"))
    #expect(error.hint(in: context)?.contains("VersionAddendum") == true)
    #expect(error.hint(in: context)?.contains("captive portal") == false)
  }
}
