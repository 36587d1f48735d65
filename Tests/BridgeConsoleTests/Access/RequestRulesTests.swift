import Testing

@testable import BridgeConsole

@Suite("Requests by host, origin and site") struct RequestRulesTests {
  private let rules = RequestRules(
    address: "127.0.0.1", port: 8080, isEncrypted: false,
    besides: ["https://console.example.org"])

  private func status(_ change: (inout RequestFacts) -> Void) -> Int? {
    var facts = RequestFacts(
      isPost: true, host: "localhost:8080", origins: ["http://localhost:8080"],
      fetchSite: "same-origin", contentType: "application/json; charset=utf-8")
    change(&facts)
    return rules.refusal(of: facts)?.status
  }

  @Test func thePageItselfIsTaken() {
    #expect(status { _ in } == nil)
    #expect(status { ($0.host, $0.origins) = ("127.0.0.1:8080", ["http://127.0.0.1:8080"]) } == nil)
    #expect(status { ($0.host, $0.origins) = ("[::1]:8080", ["http://[::1]:8080"]) } == nil)
    #expect(
      status {
        ($0.host, $0.origins) = ("Console.Example.ORG", ["https://console.example.org"])
      } == nil)
    #expect(status { ($0.isPost, $0.origins, $0.fetchSite) = (false, [], nil) } == nil)
    #expect(status { ($0.isPost, $0.origins, $0.fetchSite) = (false, [], "none") } == nil)
  }

  @Test(arguments: [
    "evil.example:8080", "localhost.evil.example:8080", "localhost", "localhost:9090", "",
    "console.example.org:8080", "0.0.0.0:8080", "127.0.0.2:8080", "localhost:8080.",
  ])
  func aNameThatIsNotOursIsRefused(_ host: String) {
    #expect(status { $0.host = host } == 421)
    #expect(status { ($0.host, $0.isPost, $0.isStatic) = (host, false, true) } == 421)
  }

  @Test func aRequestWithoutAHostIsRefused() { #expect(status { $0.host = nil } == 421) }

  @Test(arguments: [
    "http://evil.example", "null", "", "http://localhost:3000", "https://localhost:8080",
    "http://localhost", "http://localhost:8080.evil.example", "http://localhost:8080/",
  ])
  func aForeignOriginIsRefused(_ origin: String) {
    #expect(status { $0.origins = [origin] } == 403)
    #expect(status { ($0.origins, $0.isPost) = ([origin], false) } == 403)
    #expect(status { ($0.origins, $0.hasBearer) = ([origin], true) } == 403)
    #expect(status { $0.origins.append(origin) } == 403)
  }

  @Test func aPostWithoutAnOriginIsRefusedUnlessItShowsItsToken() {
    #expect(status { ($0.origins, $0.fetchSite) = ([], nil) } == 403)
    #expect(status { ($0.origins, $0.fetchSite, $0.hasBearer) = ([], nil, true) } == nil)
  }

  /// Another port of this machine is the same site to a cookie.
  @Test(arguments: ["same-site", "cross-site", "other"])
  func anotherSiteIsRefused(_ site: String) {
    #expect(status { $0.fetchSite = site } == 403)
    #expect(status { ($0.fetchSite, $0.isPost, $0.origins) = (site, false, []) } == 403)
    // A link to the page may be anywhere.
    let link = status {
      ($0.fetchSite, $0.isPost, $0.isStatic, $0.origins) = (site, false, true, [])
    }
    #expect(link == nil)
  }

  /// What a form can send without a question to the server.
  @Test(arguments: [nil, "", "text/plain", "application/x-www-form-urlencoded"])
  func aBodyThatIsNoJSONIsRefused(_ type: String?) {
    #expect(status { $0.contentType = type } == 415)
  }

  @Test func theAddressOfAllInterfacesIsNoName() {
    let rules = RequestRules(address: "0.0.0.0", port: 443, isEncrypted: true, besides: [])
    #expect(rules.refusal(of: RequestFacts(host: "0.0.0.0"))?.status == 421)
    #expect(rules.refusal(of: RequestFacts(host: "localhost")) == nil)
  }

  @Test func anOriginIsReadAsABrowserWritesIt() {
    #expect(Origin("https://A.example:443")?.text == "https://a.example")
    #expect(Origin("http://a.example:80")?.host == "a.example")
    #expect(Origin("https://a.example:8443")?.host == "a.example:8443")
    for text in ["", "a.example", "https://", "https://a.example/", "https://a@b", "ftp://a"] {
      #expect(Origin(text) == nil, "\(text)")
    }
  }
}
