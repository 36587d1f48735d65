import ArgumentParser
import BridgeCommands
import BridgeErrors
import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

/// The options that bridgectl adds to hints.
@Suite("Options in hints") struct CommandAdviceTests {
  private struct Dump: Decodable {
    struct Command: Decodable {
      var commandName: String
      var arguments: [Argument]?
      var subcommands: [Command]?
    }
    struct Argument: Decodable { var names: [Name]? }
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    var command: Command
  }

  /// All options and subcommands of bridgectl.
  private static func names(of command: Dump.Command) -> Set<String> {
    let options = (command.arguments ?? []).flatMap { $0.names ?? [] }
      .map { ($0.kind == "long" ? "--" : "-") + $0.name }
    let below = (command.subcommands ?? []).map { names(of: $0).union([$0.commandName]) }
    return below.reduce(into: Set(options)) { $0.formUnion($1) }
  }

  @Test func everyOptionInThemExists() throws {
    let dump = try JSONDecoder().decode(Dump.self, from: Data(BridgeCommand._dumpHelp().utf8))
    let names = Self.names(of: dump.command)
    let rows =
      Array(CommandAdvice.byCase.values) + Array(CommandAdvice.byKind.values)
      + [
        CommandAdvice.toInstall, CommandAdvice.toReachJumpHost, CommandAdvice.ofLibraries,
        CommandAdvice.withoutTerminal,
      ]
    for text in rows.map(\.text) {
      let options = text.matches(of: /`(--?[A-Za-z-]+)/).map { String($0.output.1) }
      let commands = text.matches(of: /`bridgectl ([a-z]+)/).map { String($0.output.1) }
      #expect(!options.isEmpty || !commands.isEmpty, "\(text)")
      #expect(names.isSuperset(of: options + commands), "\(text)")
    }
  }

  @Test func everyRowIsOfACaseOrAKind() {
    let cases = Set(ErrorCatalogue.entries.map(\.caseName))
    #expect(cases.isSuperset(of: CommandAdvice.byCase.keys))
    let kinds = Set(FailureKind.allCases.map { "\($0)" })
    #expect(kinds.isSuperset(of: CommandAdvice.byKind.keys))
  }

  /// Options of the host alone do nothing for a host on the way.
  @Test(
    arguments: [
      (.sshAuthenticationFailed(method: "publickey"), nil),
      (.sshKeyInvalid(reason: "no"), nil), (.sshProtocolError(host: "h", detail: "no"), nil),
      (.sshAlgorithmMismatch(host: "h", detail: "no"), nil),
      (.sshConnectionFailed(host: "h", reason: "no"), .agentUnavailable),
    ] as [(AppError, FailureKind?)])
  func aJumpHostHasAnotherWay(_ error: AppError, kind: FailureKind?) {
    let context = kind.map { FailureContext(kind: $0, phase: .authenticate, host: "h") }
    let ofHost = CommandAdvice.row(for: error, in: context)
    #expect(ofHost != nil && ofHost != CommandAdvice.toReachJumpHost)
    #expect(
      CommandAdvice.row(for: error, in: context, ofJumpHost: true) == CommandAdvice.toReachJumpHost)
  }

  @Test func whatHoldsForEachHostIsSaidOfAJumpHostToo() {
    let error = AppError.sshHostKeyUnknown(host: "h", fingerprint: "f")
    #expect(CommandAdvice.row(for: error, ofJumpHost: true) == CommandAdvice.row(for: error))
    let late = AppError.sshTimeout(seconds: 1)
    let silent = FailureContext(kind: .silent, phase: .keyExchange, host: "h")
    let words = "ConnectTimeout sets the time, in ssh_config by the name of the jump host."
    for context in [nil, silent] {
      #expect(CommandAdvice.text(for: late, in: context, ofJumpHost: true) == words)
    }
  }

  @Test func anAccountWithoutAShellIsNotMendedByInstalling() throws {
    let error = SessionFailure.unanswered(
      status: 1, printed: Array("This account is currently not available.\n".utf8),
      hasBegun: false, host: "h")
    let row = try #require(CommandAdvice.remedy(for: error))
    #expect(row.words.contains("has no shell") && !row.text.contains("install"))
    #expect(!SessionFailure.isMendedByInstalling(error))
  }

  @Test func aRefusedTerminalIsDoneWithout() {
    let text = "Unable to complete request for channel request-pty"
    let context = FailureContext(
      kind: .channelDenied, phase: .execute, host: "h",
      native: NativeFailure(library: .libssh2, code: -22, text: text))
    let error = AppError.sshConnectionFailed(host: "h", reason: "no")
    #expect(CommandAdvice.row(for: error, in: context) == CommandAdvice.withoutTerminal)
  }

  @Test func theKindOverrulesTheCase() {
    let newType = FailureContext(kind: .hostKeyNewType, phase: .hostKey, host: "h")
    let unknown = AppError.sshHostKeyUnknown(host: "h", fingerprint: "f")
    #expect(CommandAdvice.text(for: unknown)?.contains("accept-new` accepts") == true)
    #expect(CommandAdvice.text(for: unknown, in: newType)?.contains("accept-new refuses") == true)
    let doubtful = FailureContext(
      kind: .hostKeyUnknown, phase: .hostKey, host: "h", detail: "known_hosts:3: no key")
    #expect(CommandAdvice.text(for: unknown, in: doubtful) == nil)
    #expect(CommandAdvice.text(for: .cancelled) == nil)
    let login = FailureContext(kind: .silent, phase: .authenticate, host: "h")
    #expect(CommandAdvice.text(for: .sshTimeout(seconds: 9), in: login)?.contains("login") == true)
  }

  @Test(
    arguments: [
      (.dial, "ConnectTimeout"), (.keyExchange, "ConnectTimeout"),
      (.authenticate, "--login-timeout"), (.stream, "--dead-after"), (.execute, nil),
    ] as [(ConnectionPhase, String?)])
  func theOptionOfATimeIsThatOfItsPhase(_ phase: ConnectionPhase, _ option: String?) {
    let context = FailureContext(kind: .silent, phase: phase, host: "h")
    let text = CommandAdvice.text(for: .sshTimeout(seconds: 9), in: context)
    #expect((text == nil) == (option == nil))
    #expect(text?.contains(option ?? "") != false)
    #expect(text?.contains("`--timeout` sets the time.") != true)
  }

  @Test func theyAreInTheEventTheBannerAndThePage() throws {
    var line = JSONLine()
    line.add(.sshTimeout(seconds: 1), nil)
    #expect(line.text.contains("ConnectTimeout sets the time"))
    let page = try #require(ErrorCatalogue.entry(named: "sshTimeout"))
    #expect(ErrorPage.text(page).contains("`--timeout`"))
  }

  @Test func aCommandIsForTheHostThatWasTyped() throws {
    let error = AppError.durableSessionHostUnusable(
      host: "10.0.0.5", reason: SessionFailure.notInstalled)
    let row = try #require(CommandAdvice.row(for: error))
    #expect(row.text.hasSuffix("this installs it: `bridgectl install HOST`."))
    #expect(row.of("me@web:2222").command == "bridgectl install me@web:2222")
    #expect(CommandAdvice.row(for: .sshTimeout(seconds: 1))?.of("web").command == nil)
  }

  /// Neither installing nor doing without a session helps the one whose keeper hangs.
  @Test func aStoppedKeeperHasARemedyOfItsOwn() throws {
    let session = Identifier(high: 1, low: 2)
    let stopped = Refusal(.directory, "The keeper of \(session) (process 9) does not answer.")
    let error = SessionFailure.error(stopped, host: "h", session: session)
    #expect(try #require(CommandAdvice.remedy(for: error)).words.contains("`kill -CONT`"))
    let missing = SessionFailure.error(
      Refusal(.directory, "no place for sessions"), host: "h", session: session)
    #expect(CommandAdvice.remedy(for: missing) == nil)
  }

  /// A program in the background of a start-up file prints into the connection.
  @Test func textBetweenFramesIsNoServerOfAnotherKind() throws {
    let text = SessionFailure.error(.violation(.reservedNotZero(type: 0x4C)), host: "h")
    #expect("\(text)".contains("A start-up file (such as ~/.bashrc) runs one in the background"))
    let other = SessionFailure.error(.violation(.unknownFrame(type: 99)), host: "h")
    #expect(!"\(other)".contains("start-up file"))
  }

  @Test func installingIsAdvisedOnlyWhereItHelps() {
    let unusable = { AppError.durableSessionHostUnusable(host: "h", reason: $0) }
    let helps = { CommandAdvice.row(for: unusable($0))?.command == "bridgectl install HOST" }
    #expect(helps(SessionFailure.notInstalled))
    let version = Refusal(.version, "This keeper speaks protocol version 9 only.")
    let session = Identifier(high: 1, low: 2)
    let other = SessionFailure.error(version, host: "h", session: session)
    #expect(CommandAdvice.row(for: other)?.command == "bridgectl install HOST")
    #expect(!helps("no programs may be executed in /tmp (noexec)"))
    // It was there a moment ago, and keeps what runs.
    let attached = SessionFailure.ofAttached(unusable(SessionFailure.notInstalled))
    #expect("\(attached)".contains("is its home directory on a disk that is away?"))
    #expect(CommandAdvice.row(for: attached)?.command == "bridgectl sessions HOST")
    // It has run there, and was removed by another client after its end.
    let removed = SessionFailure.ofAttached(.durableSessionNotFound(host: "h", id: "\(session)"))
    #expect(removed.exitCode() == .outcomeUnknown)
    #expect("\(removed)".contains("is not kept there any more: it ended and was pruned"))
    let forced = SessionFailure.unanswered(
      status: 0, printed: Array("hello\n".utf8), hasBegun: false, host: "h")
    #expect(CommandAdvice.text(for: forced) == "`--durable=never` of `connect` does without it.")
    #expect(
      "\(forced)".contains(
        "its account runs another program than it is asked for, which ended with status 0: hello"))
  }

  /// After a power cut a file may be there without its content.
  @Test(arguments: [0, 126, 132, 135, 139, nil]) func aDamagedBridgeHostIsReplaced(status: Int?) {
    let error = SessionFailure.unanswered(status: status, printed: [], hasBegun: false, host: "h")
    #expect("\(error)".contains("`bridgectl install` replaces"), "\(error)")
    for status in [1, 127, 130, 255] {
      let other = SessionFailure.unanswered(
        status: status, printed: [], hasBegun: false, host: "h")
      #expect(!"\(other)".contains("install"), "\(other)")
    }
  }

  /// Permissions and space are not always what a copy lacks.
  @Test(arguments: [
    (FileFault(.notDirectory), "`mkdir -p`"),
    (FileFault(.unwritable, FileFault.noDirectory), "`mkdir -p`"),
    (FileFault(.isDirectory), "name another path"),
    (FileFault(.unwritable, FileFault.specialName), "Name a file"),
    (FileFault(.busy), "goes on with what is there"),
    (FileFault(.unwritable, FileFault.nameTooLong), "at most 255 bytes"),
    (FileFault(.unwritable, "Read-only file system"), nil),
  ])
  func whatACopyLacksIsAdvised(_ fault: FileFault, _ words: String?) {
    let error = FileFailure.error(fault, path: "h:a", isTarget: true, host: "h")
    let advice = CommandAdvice.remedy(for: error)?.text
    #expect(words.map { advice?.contains($0) == true } ?? (advice == nil), "\(advice ?? "none")")
  }

  @Test func theVersionsAreAdvisedForWhatALibraryLacks() {
    let advice = { CommandAdvice.row(for: .featureUnavailable(feature: $0))?.command }
    #expect(advice("-A (agent forwarding) with this libssh2") == "bridgectl version")
    let copying = "Copying files without bridge-host (h: it runs no shell)"
    #expect(advice(copying) == nil)
    let remedy = CommandAdvice.remedy(for: .featureUnavailable(feature: copying))?.text
    #expect(remedy?.contains("`sftp`") == true)
  }

  @Test(arguments: [
    (["web"], "web"), (["me@web"], "me@web"), (["-l", "me", "-p", "2222", "web"], "me@web:2222"),
    (["ssh://web:2222"], "web:2222"), (["-p", "2222", "::1"], "'[::1]:2222'"), (["::1"], "::1"),
    (
      ["-F", "my config", "-J", "a,b", "-i", "k", "-o", "Tag=it's", "web"],
      #"-F 'my config' -J a,b -i k -o 'Tag=it'\''s' web"#
    ),
  ])
  func theHostIsNamedAsItIsReached(_ arguments: [String], _ target: String) throws {
    let options = try ConnectOptions.parse(arguments)
    #expect(try ConnectRequest(options).target == target)
  }
}
