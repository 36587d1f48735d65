import BridgeSSH
import Testing

/// Lists of algorithms as ssh_config(5) has them.
struct AlgorithmRequestTests {
  private let defaults = ["a-ctr", "b-ctr", "c"]
  private let all = ["a-ctr", "b-ctr", "c", "d-cbc", "e-cbc"]

  @Test(arguments: [
    ("c,a-ctr", ["c", "a-ctr"]), ("c,unknown,c", ["c"]), ("unknown", []),
    ("*-cbc", ["d-cbc", "e-cbc"]),
    ("+d-cbc", ["a-ctr", "b-ctr", "c", "d-cbc"]), ("+c,unknown", ["a-ctr", "b-ctr", "c"]),
    ("-*-ctr", ["c"]), ("-c,unknown", ["a-ctr", "b-ctr"]), ("-*", []),
    ("-d-cbc", ["a-ctr", "b-ctr", "c"]),
    ("^c", ["c", "a-ctr", "b-ctr"]), ("^e-cbc,c", ["e-cbc", "c", "a-ctr", "b-ctr"]),
    ("c,,a-ctr", ["c", "a-ctr"]), ("A-CTR", []),
  ])
  func namesAreThoseThatAreThere(text: String, expected: [String]) throws {
    let request = try #require(AlgorithmRequest(text))
    #expect(request.names(from: defaults, all: all) == expected)
  }

  @Test(arguments: ["", "+", "-", "^", ",", "!a-ctr", "a-ctr,!c", "+!c"])
  func whatOpenSSHRefusesIsNoList(text: String) {
    #expect(AlgorithmRequest(text) == nil)
  }

  @Test func anOfferChangesForAllKindsOrNotAtAll() throws {
    let offer = AlgorithmOffer.standard
    let both: [AlgorithmKind] = [.cipherToServer, .cipherToClient]
    let weak = try #require(AlgorithmRequest("3des-cbc,aes256-ctr"))
    let changed = try #require(offer.applying(weak, to: both))
    for kind in both { #expect(changed[kind] == ["3des-cbc", "aes256-ctr"]) }
    #expect(changed[.macToServer] == offer[.macToServer])
    let nothing = try #require(AlgorithmRequest("umac-64@openssh.com"))
    #expect(offer.applying(nothing, to: both) == nil)
    // What is left out by one request can be named by another.
    let back = try #require(AlgorithmRequest("aes128-ctr"))
    #expect(changed.applying(back, to: both)?[.cipherToServer] == ["aes128-ctr"])
  }
}
