import BridgeCommands
import Testing

struct ReceiptsTests {
  @Test func whatNoPongProvesIsDoubtful() {
    var receipts = Receipts()
    #expect(receipts.pending(of: 1) == nil)
    for _ in 0..<3 { receipts.recordSent(1) }
    #expect(receipts.pending(of: 1) == 3)
    receipts.recordSent(1)
    receipts.prove(3, of: 1)
    #expect(receipts.pending(of: 1) == 4)
    #expect(receipts.takeDoubtful(of: 1) == 1)
    #expect(receipts.takeDoubtful(of: 1) == 0)
  }

  @Test func repliesCountFromTheOldestMessageThatIsNotProven() {
    var receipts = Receipts()
    #expect(receipts.isAnswered(1))
    receipts.recordReceived(1)
    for _ in 0..<2 { receipts.recordSent(1) }
    #expect(!receipts.isAnswered(1))
    receipts.recordReceived(1)
    #expect(!receipts.isAnswered(1))
    receipts.recordReceived(1)
    #expect(receipts.isAnswered(1))
    receipts.prove(1, of: 1)
    #expect(receipts.isAnswered(1))
    receipts.prove(2, of: 1)
    #expect(receipts.isAnswered(1))
    receipts.recordReceived(1)
    receipts.recordSent(1)
    #expect(!receipts.isAnswered(1))
  }

  /// A pong may be seen before the replies that came before it, or after those behind it.
  @Test(arguments: [0, 2, 4, 5]) func aProofTakesNoReplyFromLaterMessages(earlier: Int) {
    var receipts = Receipts()
    for _ in 0..<5 { receipts.recordSent(1) }
    for _ in 0..<earlier { receipts.recordReceived(1) }
    receipts.prove(2, of: 1)
    for count in earlier..<5 {
      #expect(!receipts.isAnswered(1), "\(count) replies")
      receipts.recordReceived(1)
    }
    #expect(receipts.isAnswered(1))
  }

  @Test func aLaterProofHoldsForEarlierMessages() {
    var receipts = Receipts()
    for _ in 0..<5 { receipts.recordSent(1) }
    receipts.prove(5, of: 1)
    receipts.prove(2, of: 1)
    #expect(receipts.pending(of: 1) == nil)
    #expect(receipts.takeDoubtful(of: 1) == 0)
  }

  @Test func eachConnectionHasItsOwn() {
    var receipts = Receipts()
    receipts.recordSent(1)
    receipts.recordSent(2)
    receipts.prove(1, of: 2)
    #expect(receipts.takeDoubtful(of: 1) == 1)
    #expect(receipts.takeDoubtful(of: 2) == 0)
  }

  @Test func aProofThatComesLateProvesNothing() {
    var receipts = Receipts()
    receipts.recordSent(1)
    #expect(receipts.takeDoubtful(of: 1) == 1)
    receipts.prove(1, of: 1)
    #expect(receipts.takeDoubtful(of: 1) == 0)
    receipts.recordSent(2)
    receipts.prove(9, of: 2)
    receipts.recordSent(2)
    #expect(receipts.takeDoubtful(of: 2) == 1)
  }
}
