import BridgeSSH
import Testing

struct AgentProtocolTests {
  private func answer(_ keys: [([UInt8], String)], count: UInt32? = nil) -> [UInt8] {
    var body = WireWriter()
    body.byte(12)
    body.uint32(count ?? UInt32(keys.count))
    for (blob, comment) in keys {
      body.string(blob)
      body.string(comment)
    }
    return framed(body.bytes)
  }

  private func framed(_ body: [UInt8]) -> [UInt8] {
    var message = WireWriter()
    message.string(body)
    return message.bytes
  }

  @Test func requestsAreWrittenAsTheDraftSays() {
    #expect(AgentRequest.identities.bytes == [0, 0, 0, 1, 11])
    let sign = AgentRequest.sign(blob: [1, 2], data: [3], flags: 4)
    #expect(
      sign.bytes == [0, 0, 0, 16, 13, 0, 0, 0, 2, 1, 2, 0, 0, 0, 1, 3, 0, 0, 0, 4])
  }

  @Test func identitiesAreRead() {
    let bytes = answer([(Keys.ed1, "ann@home\u{1b}"), (Keys.rsa, "")])
    let keys = [
      AgentIdentity(blob: Keys.ed1, comment: Array("ann@home\u{1b}".utf8)),
      AgentIdentity(blob: Keys.rsa, comment: []),
    ].compactMap(\.self)
    #expect(keys.map(\.type) == ["ssh-ed25519", "ssh-rsa"])
    #expect(keys.map(\.comment) == ["ann@home\\x1b", ""])
    let expected = AgentReply.identities(keys)
    #expect(AgentReply.parse(bytes) == .reply(expected, consumed: bytes.count))
    #expect(AgentReply.parse(bytes + [9]) == .reply(expected, consumed: bytes.count))
    for cut in 0..<bytes.count {
      #expect(AgentReply.parse(Array(bytes[..<cut])) == .needMore)
    }
  }

  @Test func aKeyOfUnknownFormIsLeftOut() {
    let bytes = answer([([1, 2, 3], "odd"), (Keys.ed1, "even")])
    guard case .reply(.identities(let keys), _) = AgentReply.parse(bytes) else {
      return #expect(Bool(false))
    }
    #expect(keys.map(\.comment) == ["even"])
  }

  @Test func signaturesAndRefusalsAreRead() {
    let signature = framed([14, 0, 0, 0, 2, 7, 8])
    #expect(AgentReply.parse(signature) == .reply(.signature([7, 8]), consumed: 11))
    for code: UInt8 in [5, 30, 102] {
      #expect(AgentReply.parse(framed([code])) == .reply(.failure, consumed: 5))
    }
  }

  @Test func hostileAnswersAreMalformed() {
    let hostile: [[UInt8]] = [
      [0, 0, 0, 0], [255, 255, 255, 255], [0, 4, 0, 1, 12], framed([6]), framed([99]),
      framed([12]), framed([12, 255, 255, 255, 255]), answer([], count: 1),
      answer([(Keys.ed1, "x")], count: 2), answer([(Keys.ed1, "x")], count: 0),
      framed([14]), framed([14, 0, 0, 0, 0]), framed([14, 0, 0, 0, 9, 1]),
      framed([14, 0, 0, 0, 1, 1, 1]),
    ]
    for bytes in hostile { #expect(AgentReply.parse(bytes) == .malformed, "\(bytes)") }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func mutatedAnswersNeverCrash(seed: UInt64) {
    let bytes = answer([(Keys.ed1, "one"), (Keys.ecdsa, "two"), (Keys.rsa, "three")])
    for mutated in Mutation.of(bytes, count: 3000, seed: seed) {
      guard case .reply(.identities(let keys), let consumed) = AgentReply.parse(mutated) else {
        continue
      }
      #expect(keys.count <= mutated.count / 8, "seed \(seed)")
      #expect(consumed <= mutated.count, "seed \(seed)")
    }
  }
}
