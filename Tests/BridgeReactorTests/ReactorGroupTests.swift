import BridgeReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReactorGroupTests {
  @Test(arguments: [1, 2, 3]) func reactorsAreGivenOutInTurn(count: Int) async {
    let group = ReactorGroup(count: count)
    let given = (0..<(3 * count)).map { _ in group.next() }
    for (index, reactor) in given.enumerated() { #expect(reactor === given[index % count]) }
    #expect(Set(given.map(ObjectIdentifier.init)).count == count)
    await group.stop()
  }

  @Test(arguments: [0, -1]) func aGroupHasAtLeastOne(count: Int) async {
    let group = ReactorGroup(count: count)
    #expect(group.next() === group.next())
    await group.stop()
  }

  @Test func aStoppedGroupStartsAnew() async {
    let group = ReactorGroup(count: 1)
    let first = group.next()
    await group.stop()
    #expect(group.next() !== first)
    await group.stop()
    await group.stop()
  }
}
