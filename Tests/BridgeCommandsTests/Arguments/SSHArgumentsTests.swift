import BridgeCommands
import BridgeErrors
import BridgeRecovery
import BridgeSSH
import Testing

/// The command line of ssh(1), read as OpenSSH reads it.
@Suite struct SSHArgumentsTests {
  private func parse(_ line: String, hasDisplay: Bool = false) throws -> SSHArguments {
    try SSHArguments(
      line.split(separator: " ").map(String.init), hasDisplay: hasDisplay)
  }

  /// The options, the host and the word that begins the command.
  @Test(
    arguments: [
      ("h", [], "h", nil), ("h ls -l", [], "h", 1), ("-p22 h", ["Port=22"], "h", nil),
      ("-p 22 -p 33 h", ["Port=22", "Port=33"], "h", nil),
      ("-oPort=22 -p 33 h", ["Port=22", "Port=33"], "h", nil),
      ("-p 33 -o Port=22 h", ["Port=33", "Port=22"], "h", nil),
      ("h -p 33 -l a true", ["Port=33", "User=a"], "h", 5),
      ("-l a b@h", ["User=a", "User=b"], "h", nil), ("-- h -p 3", [], "h", 2),
      ("h -- -p 3", [], "h", 2),
      ("h -t -- ls", ["RequestTTY=yes"], "h", 3), ("-tt h", ["RequestTTY=force"], "h", nil),
      ("-ttt h", ["RequestTTY=yes"], "h", nil), ("-t -T h", ["RequestTTY=no"], "h", nil),
      ("-T -t h", ["RequestTTY=yes"], "h", nil), ("-vvv h", ["LogLevel=DEBUG1"], "h", nil),
      ("-qv h", ["LogLevel=DEBUG1"], "h", nil), ("-vq h", ["LogLevel=QUIET"], "h", nil),
      ("-46 h", ["AddressFamily=inet6"], "h", nil), ("-6 -4 h", ["AddressFamily=inet"], "h", nil),
      ("-aktx4p22 h", ["AddressFamily=inet", "RequestTTY=yes", "Port=22"], "h", nil),
      ("-c aes128-ctr -m hmac-sha1 h", ["Ciphers=aes128-ctr", "MACs=hmac-sha1"], "h", nil),
      ("-c x -c y h", ["Ciphers=y"], "h", nil), ("-g h", ["GatewayPorts=yes"], "h", nil),
      ("h -", [], "h", 1), ("::1", [], "::1", nil), ("h:22", [], "h:22", nil),
      ("ssh://h:33", ["Port=33"], "h", nil), ("b@h -l a", ["User=b", "User=a"], "h", nil),
      ("-b 127.0.0.2 -Blo h", ["BindAddress=\"127.0.0.2\"", "BindInterface=\"lo\""], "h", nil),
      ("-o -p h", [], "", nil),
    ] as [(String, [String], String, Int?)])
  func theLine(_ line: String, _ options: [String], _ host: String, _ command: Int?) throws {
    guard !host.isEmpty else {
      // The word behind -o is its value, whatever it looks like.
      #expect(throws: SSHArguments.Refusal.self) { try parse(line) }
      return
    }
    let arguments = try parse(line)
    #expect(arguments.options == options)
    #expect(arguments.host == host)
    #expect(arguments.commandStart == command)
  }

  /// As a line of ssh_config that says nothing.
  @Test(arguments: ["", "  ", "#", "# User=x", " #Port 1"])
  func anOptionThatSaysNothingIsPassedOver(value: String) throws {
    let arguments = try SSHArguments(["-o", value, "h", "true"])
    #expect(arguments.options.isEmpty && arguments.host == "h")
  }

  @Test func theDestinationHasAUserAndAsAURIAPort() throws {
    #expect(try parse("a@b@h").options == ["User=a@b"])
    #expect(try parse("a@b@h").host == "h")
    let uri = try parse("ssh://me@[::1]:33/")
    #expect(uri.options == ["User=me", "Port=33"])
    #expect(uri.host == "::1")
    #expect(try parse("a#b@h").options == ["User=\"a#b\""])
  }

  /// As with OpenSSH; `${x}` and the like would reach a shell by ProxyCommand.
  @Test(arguments: [
    (#"corp\ada"#, true), ("machine$", true), ("a*~!?b", true), ("jane doe", true), ("é", true),
    ("a#b", true), (#"ada\"#, false), ("${HOME}", false), ("a;b", false), ("o'hara", false),
    ("jane -doe", false), ("a\u{7}b", false), ("-x", false), (#"a"b"#, false),
  ])
  func aUserHasNoNameThatAShellActsOn(name: String, isOne: Bool) throws {
    for words in [["-l", name, "h"], ["\(name)@h"]] where isOne || !name.hasPrefix("-") {
      guard isOne else {
        #expect(throws: SSHArguments.Refusal.self, "\(words)") { try SSHArguments(words) }
        continue
      }
      let config = try ClientConfig.resolve(
        .init(host: "h", home: "/", localUser: "me"), options: try SSHArguments(words).options,
        files: .init(read: { (_, _) throws(AppError) -> String? in nil }, names: { _ in [] }))
      #expect(config.user == name)
    }
  }

  @Test(
    arguments: [
      ("", nil, true), ("-p", "option requires an argument -- p", true),
      ("-tp", "option requires an argument -- p", true), ("-Z h", "unknown option -- Z", true),
      ("--help", "unknown option -- -", true), ("@h", nil, true), ("ssh://h/path", nil, true),
      ("-s h", "You must specify a subsystem to invoke.", true),
      ("-p 0 h", "Bad port '0'", false), ("-p 65536 h", "Bad port '65536'", false),
      ("-p x h", "Bad port 'x'", false), ("-p 22x h", "Bad port '22x'", false),
      ("-f h", "Cannot fork into background without a command to execute.", false),
      ("-N -s h x", "Cannot specify multiple conflicting session types: -s/-N.", false),
      ("-e ab h", "Bad escape character 'ab'.", false),
      ("-L 1 h", "Bad local forwarding specification '1'", false),
      ("-R x:y h", "Bad remote forwarding specification 'x:y'", false),
      ("-D x h", "Bad dynamic forwarding specification 'x'", false),
      ("-W h x", "Bad stdio forwarding specification 'h'", false),
      ("-W a:1 -W b:2 h", "stdio forward already specified", false),
      ("-o ControlPersist h", "command-line line 0: missing argument: ControlPersist", false),
      ("-l -x h", "remote username contains invalid characters", false),
      ("-- -h", "hostname contains invalid characters", false),
      ("-1 h", "ssh: -1: SSH protocol v.1 is no longer supported", false),
      ("-w 1 h", "ssh: -w: tunnel devices are not available", false),
      ("-O what h", "Invalid multiplex command.", false),
      ("-O check -O exit h", "Multiplex command already specified", false),
    ] as [(String, String?, Bool)])
  func aMistakeIsRefused(_ line: String, _ reason: String?, _ showsUsage: Bool) throws {
    let refusal = try #require(throws: SSHArguments.Refusal.self) { try parse(line) }
    #expect(refusal.reason == reason)
    #expect(refusal.showsUsage == showsUsage)
  }

  @Test func someEndTheReading() throws {
    #expect(try parse("-V -Z").purpose == .version)
    #expect(try parse("-Q mac").purpose == .query("mac"))
    #expect(try parse("h -G").purpose == .settings)
  }

  @Test func displayDecidesOnX11() throws {
    #expect(throws: SSHArguments.Refusal.self) { try parse("-X h", hasDisplay: true) }
    #expect(throws: SSHArguments.Refusal.self) { try parse("-Y h", hasDisplay: true) }
    #expect(try parse("-X h").remarks.count == 1)
    #expect(try parse("-x h", hasDisplay: true).remarks.isEmpty)
  }

  @Test func theRestHasFieldsOfItsOwn() throws {
    let arguments = try parse(
      "-i a -i b -F f -E e -J j,k -L 1:h:2 -D 3 -R 4:h:5 -S none -e ^B -nN -P tag h")
    #expect(arguments.identities == ["a", "b"])
    #expect((arguments.config, arguments.logFile, arguments.jump) == ("f", "e", "j,k"))
    #expect(arguments.forwards.map(\.description) == ["1:h:2", "3", "4:h:5"])
    #expect(arguments.options == ["ControlPath=\"none\"", "EscapeChar=^B", "Tag=\"tag\""])
    #expect((arguments.control, arguments.readsNothing, arguments.isIdle) == (nil, true, true))
    #expect(try parse("-S /s -M h x").options == ["ControlMaster=yes", "ControlPath=\"/s\""])
    #expect(try parse("-MM h").options == ["ControlMaster=ask"])
    #expect(try parse("-O stop h").control == .stop)
    #expect(try parse("-e none -e # h").options == ["EscapeChar=\"#\""])
    #expect(try parse("-W h:1 x").carried?.description == "h:1")
    #expect(try parse("-s h sftp").isSubsystem)
  }

  /// However options are written, and wherever they stand, they say the same.
  @Test func theFormOfTheLineDoesNotMatter() throws {
    var generator = SeededGenerator(seed: 7)
    let flags = "46aCgkqTtvxy".map { [String($0)] }
    let valued = [
      ["p", "22"], ["l", "me"], ["o", "BatchMode=yes"], ["i", "/k"], ["e", "none"],
      ["c", "aes128-ctr"], ["L", "1:h:2"], ["D", "9"], ["F", "/f"], ["I", "x"],
    ]
    for _ in 0..<500 {
      let count = Int.random(in: 0...8, using: &generator)
      let options = (0..<count).compactMap { _ in (flags + valued).randomElement(using: &generator)
      }
      let plain = options.flatMap { ["-" + $0[0]] + $0.dropFirst() } + ["host", "run", "-p"]
      let split = Int.random(in: 0...count, using: &generator)
      let before = Self.written(options[..<split], using: &generator)
      let after = Self.written(options[split...], using: &generator)
      let other = before + ["host"] + after + ["run", "-p"]
      let (first, second) = (try SSHArguments(plain), try SSHArguments(other))
      #expect(first.options == second.options, "\(other)")
      #expect(first.remarks == second.remarks, "\(other)")
      #expect(first.forwards == second.forwards && first.identities == second.identities)
      #expect(plain[first.commandStart!...] == ["run", "-p"])
      #expect(other[second.commandStart!...] == ["run", "-p"], "\(other)")
    }
  }

  /// Flags may stand together, and before an option whose value may be joined to it.
  private static func written(
    _ options: ArraySlice<[String]>, using generator: inout SeededGenerator
  ) -> [String] {
    var words: [String] = []
    var isOpen = false
    for option in options {
      if isOpen, Bool.random(using: &generator) {
        words[words.count - 1] += option[0]
      } else {
        words.append("-" + option[0])
      }
      isOpen = option.count == 1
      guard let value = option.dropFirst().first else { continue }
      if Bool.random(using: &generator) {
        words[words.count - 1] += value
      } else {
        words.append(value)
      }
    }
    return words
  }

  @Test func theRequestIsThatOfAPlainRun() throws {
    let words = ["-l", "a", "-i", "~/k", "b@h", "echo", "x"]
    let request = try ConnectRequest(
      SSHArguments(words), command: Array("echo \u{FF}".utf8.dropLast()), home: "/home/me")
    #expect(request.isSSH)
    #expect(request.durability == .never)
    #expect(request.recovery.retries == .upTo(0))
    #expect(request.identities == ["/home/me/k"])
    #expect((request.host.host, request.user) == ("h", nil))
    #expect(request.options == ["User=a", "User=b"])
    #expect(request.program?.bytes == Array("echo \u{FF}".utf8.dropLast()))
    #expect(request.program?.request == .exec)
    let subsystem = try ConnectRequest(
      SSHArguments(["-s", "h", "sftp"]), command: Array("sftp".utf8), home: "/")
    #expect(subsystem.program?.request == .subsystem)
    // As with OpenSSH, an empty command is none.
    let shell = try ConnectRequest(SSHArguments(["h", ""]), command: [], home: "/")
    #expect(shell.program == nil && shell.command == nil)
    let idle = try ConnectRequest(SSHArguments(["-N", "h", "x"]), command: [120], home: "/")
    // RemoteCommand beside it is refused all the same.
    #expect(idle.isIdle && idle.command == "x")
  }
}
