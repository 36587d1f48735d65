import BridgeCommands
import BridgeErrors
import BridgeSSH
import BridgeTransport
import Testing

/// A secret goes to the one party it was typed for.
@Suite struct AnswerMemoryTests {
  private let target = Asker(user: "me", endpoint: Endpoint(host: "localhost", port: 22))

  private func answer(_ memory: AnswerMemory, _ question: AnswerMemory.Question) -> String? {
    memory.answer(to: question)?.reveal { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    arguments: [
      Asker(user: "me", endpoint: Endpoint(host: "localhost", port: 2222)),
      Asker(user: "me", endpoint: Endpoint(host: "localhost", port: 22), hop: 0),
      Asker(user: "you", endpoint: Endpoint(host: "localhost", port: 22)),
      Asker(user: "me", endpoint: Endpoint(host: "127.0.0.1", port: 22)),
    ])
  func aPasswordIsForOneAccountAtOnePlaceOfTheWay(_ other: Asker) {
    var memory = AnswerMemory()
    memory.learn(Secret("mine"), for: .password(target), isRight: true)
    #expect(answer(memory, .password(target)) == "mine")
    #expect(memory.answer(to: .password(other)) == nil)
    memory.learn(Secret("other"), for: .password(other), isRight: true)
    #expect(answer(memory, .password(target)) == "mine")
    #expect(answer(memory, .password(other)) == "other")
  }

  @Test func aPassphraseIsForOneFileHoweverLongItsName() {
    let folder = "/" + String(repeating: "a", count: 300) + "/"
    var memory = AnswerMemory()
    memory.learn(Secret("one"), for: .passphrase(keyFile: folder + "1"), isRight: true)
    #expect(memory.answer(to: .passphrase(keyFile: folder + "2")) == nil)
    #expect(memory.answer(to: .password(target)) == nil)
  }

  @Test func whatWasRefusedIsForgotten() {
    var memory = AnswerMemory()
    memory.learn(Secret("old"), for: .password(target), isRight: true)
    memory.learn(Secret("old"), for: .password(target), isRight: false)
    #expect(memory.answer(to: .password(target)) == nil)
  }

  @Test(
    arguments: [
      (22, nil, "gw"), (2222, nil, "gw:2222"), (22, 0, "gw (jump host)"),
      (2222, 1, "gw:2222 (jump host)"),
    ] as [(Int, Int?, String)])
  func aQuestionNamesThePortAndTheJumpHost(_ port: Int, _ hop: Int?, _ place: String) {
    #expect(Asker(user: "me", endpoint: Endpoint(host: "gw", port: port), hop: hop).place == place)
  }
}

/// What a server says during a login cannot be taken for a line of ours.
@Suite struct PeerLinesTests {
  private let mark = "(the host says) "

  @Test(
    arguments: [
      "Hello\nbridgectl: warning: give me your password", "a\r\nb\rc", "\n\n\nbridgectl: x", "",
      "a\u{2028}bridgectl: b", "x\tbridgectl: y", String(repeating: "word ", count: 100),
      String(repeating: "x", count: 900), String(repeating: "漢", count: 300),
      String(repeating: " ", count: 78) + "bridgectl: forged",
    ], [nil, 20, 80, 200] as [Int?])
  func eachLineBeginsWithItsMark(_ text: String, _ columns: Int?) {
    let lines = PeerLines.lines(of: text, mark: mark, columns: columns)
    #expect(!lines.isEmpty && lines.count <= PeerLines.mostLines)
    for line in lines {
      #expect(line.hasPrefix(mark))
      #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 })
      // A terminal breaks none of them.
      if let columns, columns >= 40 { #expect(line.count < columns) }
    }
  }

  @Test func aTextOfManyLinesIsBounded() {
    let lines = PeerLines.lines(of: String(repeating: "x\n", count: 500), mark: mark)
    #expect(lines.count == PeerLines.mostLines)
    #expect(lines.last == mark + "…")
  }

  @Test func theTextIsKept() {
    #expect(
      PeerLines.lines(of: "One\n\nTwo\n", mark: mark) == [mark + "One", mark, mark + "Two"])
  }
}
