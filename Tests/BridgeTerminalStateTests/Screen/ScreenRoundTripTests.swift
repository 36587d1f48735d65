import BridgeFaults
import BridgeTerminalState
import Testing

/// A terminal that is sent a rendered screen, and then what follows, shows what one shows that was
/// sent all.
@Suite struct ScreenRoundTripTests {
  @Test(arguments: 0..<300) func aRenderedScreenIsTheScreen(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let (rows, columns) = [(24, 80), (6, 9), (10, 20)].randomElement(using: &random) ?? (24, 80)
    let output = ScreenOutput.pieces(Int.random(in: 1...200, using: &random), using: &random)
    let cut = Int.random(in: 0...output.count, using: &random)
    var all = TerminalScreen(rows: rows, columns: columns)
    all.track(output[..<cut])
    var fresh = TerminalScreen(rows: rows, columns: columns)
    fresh.track(all.render())
    let rendered = fresh == all
    #expect(rendered, "at byte \(cut)")
    all.track(output[cut...])
    fresh.track(output[cut...])
    let followed = fresh == all
    #expect(followed, "after the rest")
  }

  @Test(arguments: 0..<50) func theScreenDoesNotDependOnWhereOutputIsCut(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let output = ScreenOutput.pieces(300, using: &random)
    var (whole, pieces) = (
      TerminalScreen(rows: 10, columns: 20), TerminalScreen(rows: 10, columns: 20)
    )
    whole.track(output)
    for byte in output { pieces.track([byte]) }
    let isSame = whole.render() == pieces.render()
    #expect(isSame)
  }
}
