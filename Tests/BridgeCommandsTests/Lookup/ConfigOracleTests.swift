import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSSH
import Foundation
import Testing

/// Numbers that a seed repeats (Knuth's linear congruential generator, its high half).
private struct Numbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493 }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let high = state >> 32
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return high << 32 | state >> 32
  }
}

/// `bridgectl config` against `ssh -G`, for files that are put together from a seed.
///
/// Known differences, which no file here has: the lists of algorithms; the defaults of
/// IdentityFile, IdentityAgent, ServerAliveInterval and ServerAliveCountMax;
/// `StrictHostKeyChecking no`, which is accept-new here; `ConnectTimeout none`, which decides here;
/// GatewayPorts, which opens the ports that are printed; LogLevel QUIET, which ssh calls SILENT;
/// and unix sockets as targets of LocalForward, which ssh prints as DynamicForward. A way in a
/// circle is a warning.
@Suite(.timeLimit(.minutes(5))) struct ConfigOracleTests {
  private static let count = 200
  /// What is compared.
  private static let keywords = [
    "user", "hostname", "port", "addressfamily", "identityfile", "identitiesonly",
    "identityagent", "forwardagent", "pubkeyauthentication", "userknownhostsfile",
    "globalknownhostsfile", "knownhostscommand",
    "hostkeyalias", "stricthostkeychecking", "connecttimeout", "serveraliveinterval",
    "serveralivecountmax", "requesttty", "loglevel", "proxyjump", "proxycommand", "localforward",
    "dynamicforward", "remoteforward", "exitonforwardfailure", "clearallforwardings",
    "sendenv", "setenv", "sessiontype", "stdinnull", "escapechar", "remotecommand", "localcommand",
    "permitlocalcommand", "permitremoteopen", "bindaddress", "bindinterface", "requiredrsasize",
    "streamlocalbindunlink",
  ]
  private static let values: [(String, [String])] = [
    ("HostName", ["real.example", "%h.example", "10.0.0.1"]), ("User", ["bob", "ann", "\"c d\""]),
    ("Port", ["22", "2222", "65535"]), ("AddressFamily", ["any", "inet", "inet6"]),
    ("BindAddress", ["127.0.0.2", "::1", "me"]), ("BindInterface", ["lo", "eth0"]),
    ("IdentityFile", ["/k/a", "/k/b", "/k/c"]), ("IdentitiesOnly", ["yes", "no"]),
    ("IdentityAgent", ["/agent", "none"]), ("HostKeyAlias", ["alias", "other"]),
    ("ForwardAgent", ["yes", "no", "/fa"]),
    ("ConnectTimeout", ["5", "1m"]), ("ServerAliveInterval", ["7", "2m"]),
    ("ServerAliveCountMax", ["1", "4"]), ("RequestTTY", ["yes", "no", "force", "auto"]),
    ("LogLevel", ["ERROR", "info", "VERBOSE"]),
    ("StrictHostKeyChecking", ["ask", "yes", "accept-new"]),
    ("ProxyJump", ["hop", "u@hop:2222", "hop1,hop2", "none"]),
    ("ProxyCommand", ["nc %h %p", "none"]),
    ("LocalForward", ["8080 intranet:80", "/tmp/s web:80", "[::1]:81 [fe80::1]:80"]),
    ("DynamicForward", ["1080", "127.0.0.1:1081"]),
    ("RemoteForward", ["9090 127.0.0.1:90", "*:91 y:2", "1082"]),
    ("ExitOnForwardFailure", ["yes", "no"]), ("PubkeyAuthentication", ["yes", "no"]),
    ("UserKnownHostsFile", ["/kh", "/kh /kh2", "\"/k h\""]), ("GlobalKnownHostsFile", ["/gk"]),
    ("StreamLocalBindUnlink", ["yes", "no"]),
    ("KnownHostsCommand", ["/keys %H", "/keys %h %%", "none"]),
    ("ClearAllForwardings", ["yes", "no", "no"]),
    ("SendEnv", ["LANG LC_*", "A", "-L* B", "\"C D\"", "-A", "B?"]),
    ("SessionType", ["none", "default", "subsystem"]), ("StdinNull", ["yes", "no"]),
    ("EscapeChar", ["none", "~", "^B"]), ("RemoteCommand", ["tmux a  b", "none"]),
    ("LocalCommand", ["echo \"a b\""]), ("PermitLocalCommand", ["yes", "no"]),
    ("PermitRemoteOpen", ["any", "none", "a:1 b:*"]),
    ("RequiredRSASize", ["1024", "3072"]),
    ("SetEnv", ["A=1", "B=2 \"C=x y\"", "A=1 A=2", "D= E=="]),
  ]
  private static let blocks = [
    "Host web", "Host *", "Host w?b other", "Host !web *", "Host *.example", "Host real.example",
    "Match host real.example", "Match originalhost web", "Match user bob", "Match all",
    "Match host w*,x user ann", "Match !host web", "Match final host *.example", "Match final all",
  ]

  private static func file(_ seed: UInt64) -> String {
    var random = Numbers(seed)
    func one<Value>(_ values: [Value]) -> Value {
      values[Int.random(in: values.indices, using: &random)]
    }
    func line() -> String {
      let (keyword, choices) = one(values)
      let name = one([keyword, keyword.lowercased(), keyword.uppercased()])
      let separator = keyword.hasSuffix("Command") ? " " : one([" ", "=", " = ", "\t"])
      return one(["", "  ", "\t"]) + name + separator + one(choices) + one(["", "", "  "])
    }
    var lines = (0..<one([0, 1, 3])).map { _ in line() }
    for _ in 0..<one([1, 3, 6]) {
      lines.append(one(blocks))
      lines += (0..<one([0, 2, 5])).map { _ in line() }
      lines += one([[], ["# a comment"], [""]])
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func parse(_ text: String) -> [String: [String]] {
    text.split(separator: "\n").reduce(into: [:]) { result, line in
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      result[words[0], default: []].append(words.count > 1 ? words[1] : "")
    }
  }

  /// What `ssh -G` says of each file.
  private static func answers(in folder: String) async throws -> [[String: [String]]] {
    let script = """
      cd "$0" || exit 1
      for i in $(seq 0 \(count - 1)); do ssh -G -F $i web >$i.out 2>/dev/null </dev/null; done
      """
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/bash")
      process.arguments = ["-c", script, folder]
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    return try (0..<count).map {
      parse(try String(contentsOfFile: "\(folder)/\($0).out", encoding: .utf8))
    }
  }

  private static func report(
    of text: String, for request: ConnectRequest
  ) throws -> ConfigReport {
    try ConfigReport(
      request,
      in: HostEnvironment(
        home: "/home/me", user: NSUserName(), userID: 1001, hostName: "desk",
        isThere: { _ in false },
        files: ClientConfig.Files(
          read: { (path, _) throws(AppError) -> String? in path == "/named" ? text : nil },
          names: { _ in [] })))
  }

  /// Whether ssh says a default that is another one here.
  private static func isDefault(_ keyword: String, _ values: [String]) -> Bool {
    switch keyword {
    case "identityfile": values.first == "~/.ssh/id_rsa"
    case "identityagent": values.isEmpty
    // By the home folder that the system knows.
    case "userknownhostsfile": values.first?.hasSuffix("/.ssh/known_hosts2") == true
    case "serveraliveinterval": values == ["0"]
    case "serveralivecountmax": values == ["3"]
    case _: false
    }
  }

  @Test func itSaysWhatSSHSays() async throws {
    let folder = NSTemporaryDirectory() + "/bridge-config-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let files = (0..<Self.count).map { Self.file(UInt64($0)) }
    for (index, text) in files.enumerated() {
      try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(index)"))
    }
    // Parsed once: the parser takes seconds under the thread sanitizer.
    let request = try ConnectRequest(ConnectOptions.parse(["-F", "/named", "web"]))
    var compared = 0
    for (theirs, text) in zip(try await Self.answers(in: folder), files) {
      let ours = Self.parse(try Self.report(of: text, for: request).text(withSources: false))
      for keyword in Self.keywords {
        let value = theirs[keyword] ?? []
        guard !Self.isDefault(keyword, value) else { continue }
        #expect(ours[keyword] ?? [] == value, "\(keyword) of:\n\(text)")
        compared += value.count
      }
    }
    // ssh has answered.
    #expect(compared > Self.count * 10)
  }
}
