import BridgeReactor
import Testing

struct HostNameTests {
  /// Labels as registries publish them, and RFC 3492, 7.1 (B, G, L).
  @Test(arguments: [
    ("münchen.de", "xn--mnchen-3ya.de"), ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"), ("bücher", "xn--bcher-kva"),
    ("他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye"),
    ("3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b"), ("host。example", "host.example"),
    ("plain.example", "plain.example"), ("UPPER.example.", "UPPER.example."),
  ])
  func aLabelThatIsNotASCIIIsEncoded(name: String, ascii: String) {
    #expect(HostName.ascii(name) == ascii)
  }

  @Test(arguments: [
    "a\0b", "ü\0", String(repeating: "a", count: 255), String(repeating: "ü", count: 64),
    String(repeating: "a", count: 100_000), String(repeating: "ü.", count: 100_000),
  ])
  func whatCannotBeAHostIsNone(name: String) {
    #expect(HostName.ascii(name) == nil)
  }
}
