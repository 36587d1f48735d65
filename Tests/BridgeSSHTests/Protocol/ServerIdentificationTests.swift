import BridgeErrors
import BridgeFaults
import BridgeSSH
import Testing

struct ServerIdentificationTests {
  private let offer = AlgorithmOffer(library: LibraryVersion(1, 10, 0))

  private func observation(
    of text: String, code: SSHFailure.Code, packet: SSHPacket? = nil
  ) -> SSHFailure.Observation? {
    var identification = ServerIdentification()
    let bytes = Array(text.utf8) + (packet?.framed ?? [])
    _ = identification.see(bytes.span)
    return identification.observation(
      code: code, transcript: bytes, offer: offer, library: LibraryVersion(1, 10, 0))
  }

  @Test func saysWhenThereIsNoPointInReadingOn() {
    for (text, isAlive, hasVersion) in [
      ("", true, false), ("SSH-2.0-x", true, false), ("SSH-2.0-x\r\n", true, true),
      ("hello\nSSH-1.99-x\n", true, true), ("SSH-1.5-x\n", false, false), ("\u{0}", false, false),
      ("HTTP/1.1 200 OK\r\n\r\n", false, false),
      (String(repeating: "x", count: 9000), false, false),
      ("SSH-2.0-" + String(repeating: "x", count: 250), false, false),
    ] {
      var identification = ServerIdentification()
      #expect((identification.see(Array(text.utf8).span) != .end) == isAlive)
      #expect(identification.hasVersion == hasVersion)
    }
  }

  @Test func saysWhatTheServerWas() {
    #expect(observation(of: "", code: -13) == nil)
    #expect(observation(of: "SSH-2.0-x", code: -13) == nil)
    #expect(observation(of: "SSH-2.0-x\r\n", code: -8) == nil)
    #expect(
      observation(of: "SSH-1.5-x\r\n", code: -1) == .notSSH(seen: "SSH-1.5-x", location: nil))
    #expect(observation(of: "220 hi\r\n", code: -13) == .notSSH(seen: "220 hi", location: nil))
    guard
      case .notSSH(let seen, nil) = observation(
        of: String(repeating: "x\n", count: 5000), code: -2)
    else {
      Issue.record("no observation")
      return
    }
    #expect(seen == "x")
    let long = "SSH-2.0-" + String(repeating: "x", count: 247)
    #expect(observation(of: long + "yyy\r\n", code: -2) == .versionLineTooLong(line: long))
  }

  /// What the library gets of `parts`.
  private func given(of parts: [ArraySlice<UInt8>]) -> [UInt8] {
    var identification = ServerIdentification()
    var given: [UInt8] = []
    for part in parts {
      switch identification.see(Array(part).span) {
      case .end: Issue.record("it ended")
      case .text: break
      case .version(let marks, let skipped):
        given += ServerGreeting.mark.prefix(marks) + part.dropFirst(skipped)
      }
    }
    return given
  }

  /// However it is cut, the library gets the version line and what is behind it, and nothing else.
  @Test(arguments: ["", "\n", "\r\n\nWelcome\r\nSSH\nSS\n"])
  func theLibraryGetsNoTextBeforeTheVersion(text: String) {
    let rest = Array("SSH-2.0-x\r\n\0\0\u{1}packets".utf8)
    let bytes = Array(text.utf8) + rest
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let parts = [bytes[..<first], bytes[first..<second], bytes[second...]]
        #expect(given(of: parts) == rest, "\(first), \(second)")
      }
    }
  }

  @Test func aMismatchNeedsAnOfferThatCanBeRead() {
    var theirs = SSHAlgorithmOffer()
    #expect(
      observation(of: "SSH-2.0-x\r\n", code: -5, packet: .keyExchangeInit(theirs)) == nil)
    theirs.ciphers = "only-theirs"
    guard
      case .algorithmMismatch(let detail) = observation(
        of: "SSH-2.0-x\r\n", code: -5, packet: .keyExchangeInit(theirs))
    else {
      Issue.record("no mismatch")
      return
    }
    #expect(detail.contains("only-theirs") && detail.contains("aes128-ctr"))
    #expect(
      observation(of: "SSH-2.0-x\r\n", code: -8, packet: .keyExchangeInit(theirs)) == nil)
    #expect(
      observation(of: "SSH-2.0-x\r\n", code: -5, packet: SSHPacket(payload: [20, 1])) == nil)
  }
}
