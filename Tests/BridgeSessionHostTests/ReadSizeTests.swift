import Testing

@testable import BridgeSessionHost

@Suite struct ReadSizeTests {
  @Test func aFullReadIsFollowedByALargerOneUpToTheLast() {
    var size = ReadSize(last: 256 << 10)
    #expect(size.next == ReadSize.small)
    #expect(!size.took(ReadSize.small) && size.next == ReadSize.usual)
    #expect(size.took(ReadSize.usual) && size.next == 256 << 10)
    #expect(!size.took(256 << 10) && size.next == 256 << 10)
  }

  @Test func littleIsFollowedByASmallOne() {
    var size = ReadSize()
    #expect(!size.took(1) && size.next == ReadSize.small)
    #expect(!size.took(ReadSize.small) && !size.took(ReadSize.usual) && size.next == ReadSize.usual)
    #expect(!size.took(5000) && size.next == ReadSize.usual)
    #expect(!size.took(960) && size.next == ReadSize.small)
  }
}
