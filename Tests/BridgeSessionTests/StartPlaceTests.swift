import BridgeSession
import BridgeSessionProtocol
import Testing

@Suite("Where a program is, is known from the first answer") struct StartPlaceTests {
  private let here = Identifier(high: 1, low: 1)
  private let there = Identifier(high: 2, low: 2)

  /// A host that was set up anew keeps none.
  @Test func whatAHostHasLostIsGone() {
    let place = StartPlace()
    #expect(!place.isGone(from: []) && !place.isGone(from: [there]))
    place.see([])
    #expect(!place.isGone(from: []))
    place.see([here])
    #expect(place.isGone(from: []) && place.isGone(from: [there]))
    #expect(!place.isGone(from: [here]) && !place.isGone(from: [there, here]))
  }
}
