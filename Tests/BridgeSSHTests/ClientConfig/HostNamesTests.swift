import BridgeSSH
import Testing

@Suite("The hosts that a shell completes") struct HostNamesTests {
  private func names(_ tree: [String: String]) -> HostNames {
    HostNames(home: "/h", files: ClientConfigTests.files(tree))
  }

  @Test func areThoseOfHostLinesAndKnownHosts() {
    let names = names([
      "/h/.ssh/config": "Include d/*\nHost web *.lab !old \"a b\"\nHost = build # box\nUser Host",
      "/h/.ssh/d/1": "host inner\nInclude ~/more", "/h/more": "Host more\nInclude /h/.ssh/d/1",
      "/h/.ssh/known_hosts": """
      web,10.0.0.1 ssh-ed25519 AAAA
      |1|salt|hash ssh-ed25519 AAAA
      @revoked bad ssh-ed25519 AAAA
      [gate]:2222 ssh-ed25519 AAAA
      # comment
      2001:db8::1 ssh-ed25519 AAAA
      """,
      "/h/.ssh/known_hosts2": "unreadable",
    ])
    #expect(names.all == ["build", "inner", "more", "web", "10.0.0.1", "2001:db8::1"])
  }

  @Test func keepTheUserInFront() {
    let names = names(["/h/.ssh/config": "Host web"])
    #expect(names.completing("w") == ["web"])
    #expect(names.completing("me@w") == ["me@web"])
  }

  @Test func areNoneWithoutFiles() {
    #expect(names([:]).all.isEmpty)
  }
}
