import BridgeSSH
import BridgeTransport
import Testing

@Suite struct SOCKSRequestTests {
  private static func name(_ text: String) -> [UInt8] {
    [UInt8(text.utf8.count)] + Array(text.utf8)
  }

  private static let requests: [([UInt8], String)] = [
    ([5, 1, 0] + [5, 1, 0, 1, 10, 0, 0, 7, 0, 80], "10.0.0.7:80"),
    ([5, 2, 2, 0] + [5, 1, 0, 3] + name("web.example") + [1, 187], "web.example:443"),
    (
      [5, 1, 0, 5, 1, 0, 4] + [0x20, 1, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [
        1, 0, 22,
      ],
      "[2001:db8:0:0:0:0:0:1]:22"
    ),
    ([4, 1, 0, 80, 10, 0, 0, 7] + Array("me".utf8) + [0], "10.0.0.7:80"),
    ([4, 1, 0, 80, 0, 0, 0, 9, 0] + Array("web".utf8) + [0], "web:80"),
  ]

  /// However the bytes are cut, and with more behind them.
  @Test(arguments: requests) func aRequestNamesItsTarget(_ bytes: [UInt8], target: String) {
    for size in 1...bytes.count {
      var request = SOCKSRequest()
      var replies: [UInt8] = []
      var found: String?
      for start in stride(from: 0, to: bytes.count, by: size) {
        switch request.feed(Array(bytes[start..<min(bytes.count, start + size)])) {
        case .needMore(let reply): replies += reply
        case .connect(let endpoint): found = endpoint.description
        case .refuse(_, let reason): Issue.record("\(reason)")
        }
      }
      #expect(found == target, "cut in \(size)")
      #expect(request.rest.isEmpty)
      // Asked at once, the answer to the greeting goes with the one to the request.
      replies += request.answer(.opened)
      #expect(
        replies == (bytes[0] == 5 ? [5, 0] : [])
          + request.answer(.opened).suffix(bytes[0] == 5 ? 10 : 8))
    }
  }

  @Test(arguments: requests) func whatFollowsIsKept(_ bytes: [UInt8], target: String) {
    var request = SOCKSRequest()
    guard case .connect = request.feed(bytes + [1, 2, 3]) else {
      return #expect(Bool(false))
    }
    #expect(request.rest == [1, 2, 3])
  }

  @Test(
    arguments: [
      (Array("GET / HTTP/1.1\r\n".utf8), [], .notSOCKS), ([0], [], .notSOCKS),
      ([5, 1, 2], [5, 255], .authentication), ([5, 0], [5, 255], .authentication),
      ([5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 1], [5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0], .command),
      ([5, 1, 0, 5, 1, 0, 9, 1, 1], [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address),
      ([5, 1, 0, 5, 1, 0, 3, 0, 0, 80], [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address),
      ([5, 1, 0, 5, 1, 0, 3, 1, 0, 0, 80], [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address),
      ([5, 1, 0, 5, 1, 0, 1, 1, 1, 1, 1, 0, 0], [5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0], .address),
      ([5, 1, 0, 4, 1, 0, 1, 1], [5, 0, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0], .notSOCKS),
      ([4, 2, 0, 80, 1, 1, 1, 1, 0], [0, 91, 0, 0, 0, 0, 0, 0], .command),
      ([4, 1, 0, 0, 1, 1, 1, 1, 0], [0, 91, 0, 0, 0, 0, 0, 0], .address),
      ([4, 1, 0, 80, 1, 1, 1, 1] + [UInt8](repeating: 7, count: 700), [], .notSOCKS),
    ] as [([UInt8], [UInt8], SOCKSRequest.Refusal)])
  func anythingElseIsRefused(_ bytes: [UInt8], reply: [UInt8], reason: SOCKSRequest.Refusal) {
    var request = SOCKSRequest()
    #expect(request.feed(bytes) == .refuse(reply: reply, reason))
  }

  @Test func theAnswerIsInTheVersionOfTheQuestion() {
    var four = SOCKSRequest()
    _ = four.feed(Self.requests[3].0)
    #expect(four.answer(.opened) == [0, 90, 0, 0, 0, 0, 0, 0])
    #expect(four.answer(.refused) == [0, 91, 0, 0, 0, 0, 0, 0])
    var five = SOCKSRequest()
    _ = five.feed(Self.requests[0].0)
    #expect(five.answer(.opened).suffix(10).prefix(2) == [5, 0])
    #expect(five.answer(.refused).suffix(10).prefix(2) == [5, 5])
    #expect(five.answer(.forbidden).suffix(10).prefix(2) == [5, 2])
    #expect(five.answer(.failed).suffix(10).prefix(2) == [5, 1])
  }

  @Test(arguments: 0..<4) func mutatedRequestsNeverCrashAndStayBounded(seed: UInt64) {
    for mutated in Self.requests.flatMap({ Mutation.of($0.0, count: 300, seed: seed) }) {
      var request = SOCKSRequest()
      for byte in mutated {
        guard case .needMore = request.feed([byte]) else { break }
        #expect(request.rest.count <= SOCKSRequest.limit)
      }
    }
  }
}
