import BridgeReactor
import Testing

/// Networks as they are written (CIDR).
@Suite struct NetworkPrefixTests {
  @Test(arguments: [
    ("10.0.0.0/8", "10.200.3.4", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("192.168.4.0/22", "192.168.7.255", true), ("192.168.4.0/22", "192.168.8.0", false),
    ("192.168.1.7", "192.168.1.7", true), ("192.168.1.7", "192.168.1.6", false),
    ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "::1", false),
    ("127.0.0.1/32", "127.0.0.1", true), ("fd00:1::/32", "fd00:1:ffff::1", true),
    ("fd00:1::/32", "fd00:2::1", false), ("::/0", "2001:db8::1", true),
    ("::/0", "10.0.0.1", false), ("fe80::/10", "fe80::1%lo", true), ("::1", "::1", true),
  ])
  func itHasTheAddressesThatShareItsBits(_ network: String, _ address: String, _ isIn: Bool) throws
  {
    let prefix = try #require(NetworkPrefix(network))
    #expect(prefix.contains(try #require(NetworkAddress(numeric: address))) == isIn)
  }

  @Test(arguments: [
    "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8",
    "10.0.0.1/8", "10.0.0.0/٨", "10.0.0.0/99999999999999999999", "::/129", "fd00::1/64", "web/24",
    "fe80::%lo/64", "10.0.0.0 /8", "!10.0.0.0/8", "*",
  ])
  func anotherTextIsNone(_ text: String) {
    #expect(NetworkPrefix(text) == nil)
  }
}
