import BridgeErrors
import Foundation
import Testing

@Suite("The version on the wire")
struct WireHelloTests {
  private static let notHellos: [String] = [
    "", "hello", "[]", "{}", "{\"v\":1}", "{\"type\":\"hello\"}",
    "{\"type\":\"goodbye\",\"v\":1}", "{\"type\":\"hello\",\"v\":0}",
    "{\"type\":\"hello\",\"v\":-1}", "{\"type\":\"hello\",\"v\":\"1\"}",
    "{\"type\":\"hello\",\"v\":1.5}", "{\"type\":\"hello\",\"v\":99999999999999999999}",
    "{\"type\":\"hello\",\"v\":1,\"correlationId\":7}",
    "{\"type\":\"hello\",\"v\":1,\"x\":\"" + String(repeating: "x", count: 4096) + "\"}",
  ]

  @Test(arguments: notHellos)
  func whatIsNoHelloIsRefused(_ text: String) {
    #expect(throws: WireHelloError.notAHello) { try WireHello(message: Data(text.utf8)) }
  }

  @Test(arguments: [2, 3, Int.max])
  func aNewerVersionIsRefusedByItsNumber(_ version: Int) {
    let message = Data("{\"type\":\"hello\",\"v\":\(version)}".utf8)
    #expect(throws: WireHelloError.tooNew(theirs: version, ours: 1)) {
      try WireHello(message: message)
    }
  }

  @Test func unknownKeysAreIgnored() throws {
    let message = Data("{\"new\":[1],\"type\":\"hello\",\"v\":1,\"correlationId\":\"a-1\"}".utf8)
    let hello = try WireHello(message: message)
    #expect(hello == WireHello(correlationID: CorrelationID(header: "a-1")))
    #expect(hello.version == 1)
  }

  @Test func anIdThatIsNotHarmlessCountsAsAbsent() throws {
    let message = Data("{\"type\":\"hello\",\"v\":1,\"correlationId\":\"a\\nb\"}".utf8)
    #expect(try WireHello(message: message).correlationID == nil)
  }

  @Test func whatIsWrittenIsReadBack() throws {
    for id in [nil, CorrelationID(header: "a-1")] {
      let hello = WireHello(correlationID: id)
      let data = try JSONEncoder.apiEncoder.encode(hello)
      let tail = id == nil ? "" : "\"correlationId\":\"a-1\","
      #expect(String(decoding: data, as: UTF8.self) == "{\(tail)\"type\":\"hello\",\"v\":1}")
      #expect(try WireHello(message: data) == hello)
    }
  }

  @Test func aRefusalIsAnEnvelope() {
    let rows: [(WireHelloError, Int, String, String)] = [
      (.notAHello, 400, "HELLO_EXPECTED", "The first message must be a hello."),
      (
        .tooNew(theirs: 9, ours: 1), 426, "VERSION_UNSUPPORTED",
        "Version 9 of the contract is not supported here, only versions up to 1."
      ),
    ]
    for (error, status, code, message) in rows {
      let answer = ErrorEnvelope.outgoing(for: error, correlationHeader: "a-1")
      #expect(answer.status == status)
      #expect(answer.envelope.error.code == code)
      #expect(answer.envelope.error.message == message)
      #expect(answer.envelope.error.correlationId == "a-1")
      #expect(error.localizedDescription == message)
    }
    #expect(WireHelloError.closeCode == 1008)
  }
}
