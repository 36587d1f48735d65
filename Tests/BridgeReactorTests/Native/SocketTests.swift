import BridgeErrors
import BridgeReactor
import Testing

@Suite struct SocketTests {
  @Test func aReadIntoAnEmptyBufferIsNoEndOfFile() throws {
    let pair = try SocketPair()
    #expect(pair.near.read(0).result == .bytes(0))
    #expect(pair.near.condition == .open)
  }

  @Test func aReadWithoutBytesWouldBlock() throws {
    let pair = try SocketPair()
    #expect(pair.near.read().result == .wouldBlock)
    #expect(pair.near.condition == .open)
  }

  @Test func aWriteWithoutSpaceWouldBlock() throws {
    let pair = try SocketPair()
    pair.near.fill()
    #expect(pair.near.write([1]) == .wouldBlock)
    #expect(pair.near.condition == .open)
  }

  @Test func theFirstThingSeenStays() throws {
    let pair = try SocketPair()
    pair.far.close()
    #expect(pair.near.read().result == .ended)
    #expect(pair.near.write([1]) == .ended)
    #expect(pair.near.condition == .endOfFile)
  }

  @Test func aWriteToAPeerThatIsGoneIsAnErrorAndNoSignal() throws {
    let pair = try SocketPair()
    pair.far.close()
    #expect(pair.near.write([1]) == .ended)
    #expect(pair.near.condition == .failed(errno: 32))
  }

  @Test func aClosedSocketAnswersWithItsOwnError() throws {
    let pair = try SocketPair()
    pair.near.close()
    #expect(pair.near.read().result == .ended)
    #expect(pair.near.condition == .failed(errno: 9))
  }

  @Test func theEndIsSeenByThePeerBeforeTheClose() throws {
    let pair = try SocketPair()
    pair.near.shutDown()
    #expect(pair.far.read().result == .ended)
    #expect(pair.far.condition == .endOfFile)
  }
}
