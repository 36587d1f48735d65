import BridgeSessionProtocol

/// The program `bridge-host`: what an SSH exec channel runs on the remote machine.
public enum HostProgram {
  /// Runs the verb of these arguments (without the program's name) and ends the process.
  public static func run(_ arguments: [String]) -> Never {
    Programs.survivesLimits()
    // Without it there are no arguments either.
    guard Machine.hasProcesses else {
      Machine.write(Array(noProcesses.utf8), to: 2)
      Machine.end(HostStatus.configuration)
    }
    Machine.end(status(arguments))
  }

  private static let noProcesses =
    "bridge-host needs /proc, which is not mounted here: a ChrootDirectory of sshd has none.\n"

  static let usage = """
    usage: bridge-host start [--attach] [--marker TEXT]      the start frame is on standard input
           bridge-host attach --session ID [--marker TEXT]
           bridge-host list [--marker TEXT]
           bridge-host read --session ID [--from OFFSET] [--follow] [--marker TEXT]
           bridge-host wait --session ID [--marker TEXT]
           bridge-host kill --session ID [--signal NAME] [--marker TEXT]
           bridge-host rename --session ID --name HEX [--marker TEXT]
           bridge-host forget [--session ID] [--marker TEXT]     of all that have ended, without ID
           bridge-host files [--run ID] [--marker TEXT]          a copy, by frames on standard input
           bridge-host agent --run ID [--marker TEXT]            the client's ssh-agent, at a socket
           bridge-host version

    """

  private static func status(_ arguments: [String]) -> UInt8 {
    guard let verb = arguments.first, let options = Options(Array(arguments.dropFirst())) else {
      Machine.write(Array(usage.utf8), to: 2)
      return HostStatus.usage
    }
    switch verb {
    case KeepVerb.name: return KeepVerb.run()
    case "version":
      let versions = Limits.versions.map { "\($0)" }.joined(separator: " ")
      Machine.write(Array("bridge-host protocol \(versions)\n".utf8), to: 1)
      return HostStatus.success
    case FilesVerb.name:
      let answer = Answer(marker: options.marker)
      answer.begin(FileLimits.greeting)
      var files = FilesVerb(answer: answer, run: options.run)
      return files.serve()
    case AgentVerb.name:
      guard let token = options.run else { break }
      return AgentVerb(answer: Answer(marker: options.marker), token: token).serve()
    default: return inspect(verb, options)
    }
    Machine.write(Array(usage.utf8), to: 2)
    return HostStatus.usage
  }

  private static func inspect(_ verb: String, _ options: Options) -> UInt8 {
    let answer = Answer(marker: options.marker)
    let roots: [StateRoot]
    let hidden = StateRoot.hidden
    do throws(RootError) {
      roots = try StateRoot.open(creates: verb == "start")
      answer.begin(at: StateRoot.places(of: options.session, in: roots))
    } catch {
      answer.begin()
      if let hidden {
        let isOfAll = options.session == nil && verb != "start"
        return answer.decline(isOfAll ? .outcomeUnknown : .directory, hidden)
      }
      if verb == "list" || (verb == "forget" && options.session == nil),
        case .unsuitable = error
      {
        return HostStatus.success
      }
      if case .unsuitable = error, verb != "start" {
        return answer.decline(.unknownSession, "No session here (\(error.text)).")
      }
      return answer.decline(.directory, error.text)
    }
    if verb == "start" { return start(answer, roots, hidden, attaches: options.attaches) }
    if let hidden {
      guard let session = options.session else { return answer.decline(.outcomeUnknown, hidden) }
      if SessionFiles(session, in: roots) == nil { return answer.decline(.directory, hidden) }
    }
    if verb == "list" { return Inspection(answer: answer, roots: roots).list() }
    if verb == "forget" { return Inspection(answer: answer, roots: roots).forget(options.session) }
    guard let session = options.session else {
      Machine.write(Array(usage.utf8), to: 2)
      return HostStatus.usage
    }
    let inspection = Inspection(answer: answer, roots: roots)
    switch verb {
    case "attach": return AttachVerb(answer: answer, roots: roots).run(session)
    case "read": return inspection.read(session, from: options.from, follows: options.follows)
    case "wait": return inspection.wait(session)
    case "kill": return inspection.kill(session, options.signal)
    case "rename" where options.name != nil:
      return inspection.rename(session, to: options.name ?? [])
    default:
      Machine.write(Array(usage.utf8), to: 2)
      return HostStatus.usage
    }
  }

  private static func start(
    _ answer: Answer, _ roots: [StateRoot], _ hidden: String?, attaches: Bool
  ) -> UInt8 {
    let (session, status) = StartVerb(answer: answer, roots: roots, hidden: hidden).run()
    guard let session, attaches else { return status }
    return AttachVerb(answer: answer, roots: roots, followsStart: true).run(session)
  }
}

/// The options of a command line.
struct Options: Equatable {
  var marker: String?
  var session: SessionID?
  var run: Identifier?
  var from: UInt64 = 0
  var signal: SessionSignal?
  var name: [UInt8]?
  var follows = false
  var attaches = false

  /// Nil when an option is unknown or its value is none.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    while let name = rest.popFirst() {
      switch name {
      case "--attach": attaches = true
      case "--follow": follows = true
      case "--marker", "--session", "--from", "--signal", "--run", "--name":
        guard let value = rest.popFirst(), set(name, value) else { return nil }
      default: return nil
      }
    }
  }

  private mutating func set(_ name: String, _ value: String) -> Bool {
    switch name {
    case "--marker":
      marker = value
      return !value.isEmpty
    case "--session":
      session = SessionID(text: value)
      return session != nil
    case "--run":
      run = Identifier(text: value)
      return run != nil
    case "--from":
      guard let offset = UInt64(value), offset < Limits.offset else { return false }
      from = offset
      return true
    case "--name":
      self.name = Hexadecimal.bytes(value)
      return self.name.map { 1...SessionSpec.longestName ~= $0.count } ?? false
    default:
      signal = SessionSignal(rawValue: value)
      return signal != nil
    }
  }
}
