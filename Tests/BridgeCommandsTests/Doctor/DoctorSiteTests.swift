import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import Testing

@Suite struct DoctorSiteTests {
  private func site(
    _ config: String, _ arguments: [String] = [], library: LibraryVersion = LibraryVersion(1, 10, 0)
  ) throws -> DoctorSite {
    let request = try ConnectRequest(ConnectOptions.parse(arguments + ["web"]))
    let settings = try ConnectSettings.resolve(
      request,
      in: HostEnvironment(
        home: "/home/me", user: "me", userID: 1001, hostName: "desk", isThere: { _ in false },
        files: ClientConfig.Files(
          read: { (path, _) throws(AppError) -> String? in
            ["/home/me/.ssh/config": config][path]
          }, names: { _ in [] })))
    return DoctorSite(settings.host, typed: request.identities, library: library)
  }

  private static let file = "/home/me/.ssh/config"

  @Test(
    arguments: [
      (DoctorStep.Kind.resolve, "HostName h.example"), (.resolve, "AddressFamily inet"),
      (.connect, "Port 2222"), (.connect, "ConnectTimeout 3"), (.keyExchange, "MACs hmac-sha2-256"),
      (.hostKey, "HostKeyAlias a"), (.hostKey, "UserKnownHostsFile /k"), (.login, "User bob"),
      (.login, "IdentitiesOnly yes"),
    ])
  func aStepHasTheLinesWithAPartInIt(_ kind: DoctorStep.Kind, _ line: String) throws {
    let site = try site("Host web\n\(line)\n")
    #expect(site.sources(of: kind) == ["\(line.prefix { $0 != " " }) \(Self.file):2"])
    let others = DoctorStep.Kind.allCases.filter { $0 != kind }
    #expect(others.allSatisfy { site.sources(of: $0).isEmpty })
  }

  /// Else a line would be left out of its step without a word.
  @Test func eachKeywordOfAStepIsOneThatHasAnEffect() {
    let known = Set(ConfigKeyword.table.map(\.name))
    let named = DoctorStep.Kind.allCases.flatMap(DoctorSite.keywords)
    #expect(named.filter { !known.contains($0) }.isEmpty)
    #expect(named.count > 10)
  }

  @Test func aKeyFileHasTheLineThatNamesIt() throws {
    let site = try site(
      "Host web\nIdentityFile ~/a\nHost *\nIdentityFile ~/a\nIdentityFile %d/b\n", ["-i", "/c"])
    #expect(site.identities["/home/me/a"] == "IdentityFile \(Self.file):2")
    #expect(site.identities["/home/me/b"] == "IdentityFile \(Self.file):5")
    #expect(site.identities["/c"] == "-i")
  }

  @Test func aKeepaliveThatIsOffIsDoubtful() throws {
    let doubts = try site("ServerAliveInterval 0\n").doubts
    #expect(doubts.map(\.outcome) == [.warning])
    #expect(doubts.first?.sources == ["ServerAliveInterval \(Self.file):1"])
    #expect(try site("ServerAliveInterval 10\n").doubts.isEmpty)
  }

  @Test(
    arguments: [
      ("Ciphers +aes256-gcm@openssh.com", "aes256-gcm@openssh.com"),
      ("Ciphers aes256-ctr,chacha20-poly1305@openssh.com", "chacha20-poly1305@openssh.com"),
      ("MACs hmac-sha2-256,hmac-sha2-256-etm@openssh.com", "hmac-sha2-256-etm@openssh.com"),
      ("Ciphers aes256-ctr", nil), ("Ciphers -aes256-gcm@openssh.com", nil),
    ] as [(String, String?)])
  func anAlgorithmThatThisLibraryHasNotIsDoubtful(_ line: String, _ name: String?) throws {
    let doubts = try site("\(line)\n").doubts
    #expect(
      doubts.map(\.sources)
        == (name == nil ? [] : [["\(line.prefix { $0 != " " }) \(Self.file):1"]]))
    if let name { #expect(doubts.first?.message.contains(name) == true) }
  }
}
