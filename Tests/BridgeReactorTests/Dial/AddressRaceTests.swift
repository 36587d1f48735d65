import BridgeReactor
import Testing

/// One line of a race: what happens, and what is done about it.
private struct Turn: Sendable {
  let event: AddressRace.Event
  let actions: [AddressRace.Action]

  init(_ event: AddressRace.Event, _ actions: AddressRace.Action...) {
    self.event = event
    self.actions = actions
  }
}

private struct Race: Sendable, CustomTestStringConvertible {
  let testDescription: String
  var addresses: Int
  let turns: [Turn]

  init(_ name: String, of addresses: Int, _ turns: Turn...) {
    testDescription = name
    self.addresses = addresses
    self.turns = turns
  }
}

private let refused: Int32 = 111
private let noRoute: Int32 = 101

@Suite struct AddressRaceTests {
  @Test(arguments: [
    Race(
      "no address at all", of: 0,
      Turn(.begun, .disarmDelay, .lose(errno: 113)), Turn(.begun), Turn(.delayElapsed)),
    Race(
      "one that connects", of: 1,
      Turn(.begun, .disarmDelay, .connect(0)), Turn(.connected(0), .disarmDelay, .win(0))),
    Race(
      "one that fails", of: 1,
      Turn(.begun, .disarmDelay, .connect(0)),
      Turn(.failed(0, errno: refused), .disarmDelay, .lose(errno: refused))),
    Race(
      "the first connects before the delay is over", of: 2,
      Turn(.begun, .armDelay, .connect(0)), Turn(.connected(0), .disarmDelay, .win(0))),
    Race(
      "the first is silent, the second wins", of: 2,
      Turn(.begun, .armDelay, .connect(0)), Turn(.delayElapsed, .disarmDelay, .connect(1)),
      Turn(.connected(1), .disarmDelay, .abandon(0), .win(1))),
    Race(
      "the first is slow and wins all the same", of: 3,
      Turn(.begun, .armDelay, .connect(0)), Turn(.delayElapsed, .armDelay, .connect(1)),
      Turn(.delayElapsed, .disarmDelay, .connect(2)),
      Turn(.connected(0), .disarmDelay, .abandon(1), .abandon(2), .win(0))),
    Race(
      "a failure starts the next at once and the delay anew", of: 3,
      Turn(.begun, .armDelay, .connect(0)),
      Turn(.failed(0, errno: refused), .armDelay, .connect(1)),
      Turn(.failed(1, errno: refused), .disarmDelay, .connect(2)),
      Turn(.connected(2), .disarmDelay, .win(2))),
    Race(
      "the last attempt fails while others are silent", of: 2,
      Turn(.begun, .armDelay, .connect(0)), Turn(.delayElapsed, .disarmDelay, .connect(1)),
      Turn(.failed(1, errno: refused)), Turn(.connected(0), .disarmDelay, .win(0))),
    Race(
      "every attempt fails", of: 3,
      Turn(.begun, .armDelay, .connect(0)), Turn(.delayElapsed, .armDelay, .connect(1)),
      Turn(.failed(0, errno: noRoute), .disarmDelay, .connect(2)),
      Turn(.failed(2, errno: refused)),
      Turn(.failed(1, errno: noRoute), .disarmDelay, .lose(errno: refused))),
    Race(
      "what comes after the end changes nothing", of: 2,
      Turn(.begun, .armDelay, .connect(0)), Turn(.connected(0), .disarmDelay, .win(0)),
      Turn(.connected(0)), Turn(.failed(0, errno: refused)), Turn(.delayElapsed), Turn(.begun)),
    Race(
      "an attempt that does not run cannot win or fail", of: 2,
      Turn(.connected(0)), Turn(.begun, .armDelay, .connect(0)), Turn(.connected(1)),
      Turn(.failed(1, errno: refused)), Turn(.connected(7)), Turn(.begun),
      Turn(.failed(0, errno: refused), .disarmDelay, .connect(1)),
      Turn(.connected(0)), Turn(.failed(0, errno: refused)),
      Turn(.connected(1), .disarmDelay, .win(1))),
  ])
  private func aRaceGoes(_ table: Race) {
    var race = AddressRace((0..<table.addresses).map { .v4(UInt8($0)) })
    for turn in table.turns { #expect(race.step(turn.event) == turn.actions) }
  }

  /// Of each pair the one that says more, whichever came first.
  @Test(
    arguments: [
      (111, 101), (111, 113), (111, 110), (110, 113), (113, 101), (101, 100), (100, 99), (13, 110),
      (24, 111), (23, 111), (12, 111), (104, 110), (111, 104), (99, 95),
    ] as [(Int32, Int32)])
  func theMostTellingErrorIsReported(telling: Int32, other: Int32) {
    for (first, second) in [(telling, other), (other, telling)] {
      var race = AddressRace([.v4(1), .v4(2)])
      _ = race.step(.begun)
      _ = race.step(.failed(0, errno: first))
      #expect(race.step(.failed(1, errno: second)) == [.disarmDelay, .lose(errno: telling)])
    }
  }

  @Test func ofTwoErrorsThatSayNothingTheFirstIsReported() {
    var race = AddressRace([.v4(1), .v4(2)])
    _ = race.step(.begun)
    _ = race.step(.failed(0, errno: 97))
    #expect(race.step(.failed(1, errno: 95)) == [.disarmDelay, .lose(errno: 97)])
  }

  @Test(
    arguments: [
      ([], nil, []),
      ([.v4(1)], nil, [.v4(1)]),
      ([.v6(1), .v6(2), .v4(1), .v4(2)], nil, [.v6(1), .v4(1), .v6(2), .v4(2)]),
      ([.v4(1), .v4(2), .v6(1), .v6(2)], nil, [.v4(1), .v6(1), .v4(2), .v6(2)]),
      ([.v6(1), .v6(2), .v6(3), .v4(1)], nil, [.v6(1), .v4(1), .v6(2), .v6(3)]),
      ([.v6(1), .v4(1), .v4(2), .v4(3)], nil, [.v6(1), .v4(1), .v4(2), .v4(3)]),
      ([.v4(2), .v4(1)], nil, [.v4(2), .v4(1)]),
      ([.v4(1), .v4(1), .v6(1), .v6(1)], nil, [.v4(1), .v6(1)]),
      ([.v6(1), .v4(1), .v4(2)], .v4(2), [.v4(2), .v6(1), .v4(1)]),
      ([.v6(1), .v6(2), .v4(1)], .v6(2), [.v6(2), .v4(1), .v6(1)]),
      ([.v6(1), .v4(1)], .v6(1), [.v6(1), .v4(1)]),
      ([.v6(1), .v4(1)], .v4(9), [.v6(1), .v4(1)]),
    ] as [([NetworkAddress], NetworkAddress?, [NetworkAddress])])
  func familiesTakeTurns(
    addresses: [NetworkAddress], favorite: NetworkAddress?, order: [NetworkAddress]
  ) {
    #expect(AddressRace(addresses, favorite: favorite).order == order)
  }

  @Test func aNameServerCannotMakeUsTryAnyNumber() {
    let flood = (0..<200).map { NetworkAddress.v6($0) } + (0..<200).map { NetworkAddress.v4($0) }
    let order = AddressRace(flood).order
    #expect(order.count == AddressRace.mostAddresses)
    #expect(order.hasTwoFamilies)
  }

  @Test(
    arguments: [
      ([], false), ([.v4(1), .v4(2)], false), ([.v6(1)], false), ([.v4(1), .v6(1)], true),
    ] as [([NetworkAddress], Bool)])
  func twoFamiliesAreWorthARace(addresses: [NetworkAddress], isWorth: Bool) {
    #expect(addresses.hasTwoFamilies == isWorth)
  }
}
