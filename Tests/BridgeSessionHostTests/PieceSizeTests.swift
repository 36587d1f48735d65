import Testing

@testable import BridgeSessionHost

/// Frames are as large as the link carries in 20 ms, within limits.
@Suite struct PieceSizeTests {
  private func largest(_ size: inout PieceSize) -> Int {
    (0..<12).map { _ in size.next() }.last ?? 0
  }

  @Test func theFirstFramesAreSmall() {
    var size = PieceSize()
    #expect((0..<8).map { _ in size.next() } == [1, 2, 4, 8, 16, 32, 64, 64].map { $0 << 10 })
  }

  @Test(arguments: [
    // KiB in a second, and the largest frame that follows in KiB.
    (100, 64), (3200, 64), (6400, 127), (10_000, 200), (13_200, 256), (1_000_000, 256),
  ]) func framesGrowWithTheRateOfTheLink(rate: UInt64, frame: Int) {
    var size = PieceSize()
    size.acknowledged(through: 5000, at: 1000)
    size.acknowledged(through: 5000 + rate << 10, at: 2000)
    #expect(largest(&size) >> 10 == frame)
  }

  @Test func aLinkThatBecomesSlowGetsSmallFramesAgain() {
    var size = PieceSize()
    size.acknowledged(through: 0, at: 0)
    size.acknowledged(through: 40 << 20, at: 100)
    #expect(largest(&size) == PieceSize.last)
    // Within the time that is measured, nothing changes.
    size.acknowledged(through: 40 << 20, at: 199)
    #expect(size.next() == PieceSize.last)
    size.acknowledged(through: 40 << 20, at: 200)
    #expect(size.next() == PieceSize.usual)
  }

  @Test func offsetsThatGoBackAreNoRate() {
    var size = PieceSize()
    size.acknowledged(through: 1 << 40, at: 0)
    size.acknowledged(through: 0, at: 1000)
    #expect(largest(&size) == PieceSize.usual)
  }
}
