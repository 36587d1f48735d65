import BridgeWebSocket
import Testing

@Suite("The pace of writing")
struct WritePaceTests {
  /// A pace of its own for each test.
  private final class Pacer {
    private var pace = WritePace()

    /// How many turns a write waits, each of which takes in so many messages.
    func turns(_ received: Int..., isFull: Bool = false) -> Int {
      pace.begin()
      for (index, count) in received.enumerated() {
        guard pace.goesOn(after: count, isFull: isFull) else { return index }
      }
      return received.count
    }
  }

  @Test("waits for no turn where nothing has come")
  func nothing() {
    let pace = Pacer()
    #expect(pace.turns(0, 1) == 0)
  }

  @Test("waits while messages come, for eight turns at most")
  func stream() {
    let pace = Pacer()
    #expect(pace.turns(1, 1, 1, 0) == 3)
    #expect(pace.turns(2, 2, 2, 2, 2, 2, 2, 2, 2, 2) == 8)
  }

  @Test("does not wait when there is enough to write")
  func full() {
    #expect(Pacer().turns(9, isFull: true) == 0)
  }

  @Test("learns that one message comes at a time, and looks again now and then")
  func pingPong() {
    let pace = Pacer()
    for _ in 0..<4 { #expect(pace.turns(1, 0) == 1) }
    let looks = (0..<320).map { _ in pace.turns(1, 0) }
    #expect(looks.reduce(0, +) == 10)
    #expect(looks.first == 0)
  }

  @Test("unlearns it when two come together, or a look finds one")
  func streamAgain() {
    let pace = Pacer()
    for _ in 0..<5 { _ = pace.turns(1, 0) }
    #expect(pace.turns(1, 0) == 0)
    #expect(pace.turns(2, 0) == 1)
    #expect(pace.turns(1, 0) == 1)
  }
}
