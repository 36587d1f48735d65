import BridgeReactor
import Testing

@Suite struct NetworkAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
    ("::1", "::1"), ("::", "::"), ("2001:DB8:0:0::7", "2001:db8::7"),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("fe80::1%1", "fe80::1%1"),
    ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
  ])
  func anAddressReadsAsItIsDialled(text: String, description: String) throws {
    let address = try #require(NetworkAddress(numeric: text))
    #expect(address.description == description)
    #expect(NetworkAddress(numeric: address.description) == address)
  }

  @Test(arguments: [
    "", "localhost", "example.org", "127.0.0.1\0", "256.0.0.1", "1.2.3.4.5", "[::1]", "::1%none",
    ":::", "127.0.0.1 ", "-1",
  ])
  func aNameIsNoAddress(text: String) {
    #expect(NetworkAddress(numeric: text) == nil)
  }

  @Test(arguments: [0, 1, 3, 5, 8, 15, 17])
  func otherNumbersOfBytesAreNoAddress(count: Int) {
    #expect(NetworkAddress(bytes: [UInt8](repeating: 1, count: count)) == nil)
  }
}
