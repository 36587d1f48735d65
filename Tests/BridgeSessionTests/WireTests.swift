import BridgeSession
import BridgeSessionProtocol
import Foundation
import Testing

@Suite struct HostCommandTests {
  private static let marker = AnswerMarker(Identifier(high: 1, low: 2))

  /// Runs a command line as a login shell does.
  private func run(_ command: HostCommand, shell: String, home: URL) throws -> (String, Int32) {
    try ShortProcess.run(
      [shell, "-c", command.text], environment: ["HOME": home.path, "PATH": "/usr/bin:/bin"])
  }

  private static let shells = [
    "/bin/sh", "/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "/bin/csh",
  ].filter { FileManager.default.isExecutableFile(atPath: $0) }

  private func withHome(_ body: (URL) throws -> Void) throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "home \(UUID())")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: home) }
    try body(home)
  }

  /// Written by another process: a descriptor of ours that a child of another test inherits would
  /// make the file busy.
  private func install(_ path: URL) throws {
    try FileManager.default.createDirectory(
      at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
    let script = "#!/bin/sh\nprintf '<%s>' \"$@\"\necho complaint >&2\nexit 3\n"
    let write = "printf %s \"$SCRIPT\" > \"$FILE\" && chmod 755 \"$FILE\""
    let (_, status) = try ShortProcess.run(
      ["/bin/sh", "-c", write],
      environment: ["SCRIPT": script, "FILE": path.path, "PATH": "/usr/bin:/bin"])
    #expect(status == 0)
  }

  @Test(arguments: shells)
  func everyShellRunsWhatIsInstalled(shell: String) throws {
    try withHome { home in
      try install(home.appending(path: HostCommand.installed))
      let session = Identifier(high: 0, low: 10)
      let command = HostCommand(
        .read(session, from: 7, follows: true), program: nil, marker: Self.marker)
      let (output, status) = try run(command, shell: shell, home: home)
      #expect(
        output == "<read><--session><\(session)><--from><7><--follow><--marker><\(command.marker)>"
          + "complaint\n")
      #expect(status == 3)
    }
  }

  @Test(arguments: shells)
  func aPathMayHaveAnyCharacter(shell: String) throws {
    // csh expands `!` in every word, so that one is left out.
    let name = shell.hasSuffix("csh") ? "a b'c\"d$e`f" : "a b'c\"d$e`f\\g"
    try withHome { home in
      let path = home.appending(path: name).appending(path: "bridge-host")
      try install(path)
      let command = HostCommand(.list, program: path.path, marker: Self.marker)
      let (output, status) = try run(command, shell: shell, home: home)
      #expect(output.hasPrefix("<list><--marker>"))
      #expect(status == 3)
    }
  }

  @Test(arguments: shells)
  func aMissingProgramIsNamed(shell: String) throws {
    try withHome { home in
      let command = HostCommand(.startAndAttach, program: nil, marker: Self.marker)
      let (output, status) = try run(command, shell: shell, home: home)
      #expect(output == HostCommand.missing + "\n")
      #expect(status == 127)
    }
  }
}

@Suite("An answer begins where bridge-host speaks, and nowhere else") struct AnswerReaderTests {
  private static let frame = Frame.pong(5)

  /// What a device or a wrapper prints of the command, of its words or of what a shell made of
  /// them.
  @Test func anEchoOfTheCommandIsNoAnswer() throws {
    let command = HostCommand(.startAndAttach, program: nil)
    let echoes = [
      "Line has invalid autocommand \"\(command.text)\"",
      command.text.filter { !"'\"\\".contains($0) },
      "+ exec /usr/bin/bridge-host start --attach --marker \(command.marker)\n",
      "\(command.marker)\(command.marker)\r\n", command.marker + "\n",
    ]
    for echo in echoes {
      for cut in stride(from: 0, through: echo.utf8.count, by: 9) {
        var reader = AnswerReader(marker: command.marker)
        let bytes = Array(echo.utf8)
        try reader.append(Array(bytes[..<cut]))
        try reader.append(Array(bytes[cut...]))
        reader.acceptSilence()
        #expect(!reader.hasBegun, "\(echo)")
        try reader.append(Array(command.marker.utf8) + Greeting([]).bytes + Self.frame.encoded)
        #expect(try reader.next() == Self.frame, "\(echo)")
      }
    }
  }

  @Test func aGreetingIsTheProofAndNoFrame() throws {
    var reader = AnswerReader(marker: "bridge-1")
    try reader.append(Array("hello\nbridge-1".utf8))
    #expect(reader.progress == .marked)
    try reader.append(Greeting([]).bytes)
    #expect(reader.progress == .begun && reader.preamble == Array("hello\n".utf8))
    #expect(try reader.next() == nil)
    #expect(reader.isComplete)
  }

  /// What is sent next depends on it.
  @Test func aGreetingIsReadWhereverItIsCut() throws {
    let places = [Identifier(high: 1, low: 2), Identifier(high: 3, low: 4)]
    let bytes = Array("bridge-1".utf8) + Greeting(places).bytes + Self.frame.encoded
    for cut in 0...bytes.count {
      var reader = AnswerReader(marker: "bridge-1")
      try reader.append(Array(bytes[..<cut]))
      #expect(!reader.hasBegun || reader.places == places, "\(cut)")
      try reader.append(Array(bytes[cut...]))
      #expect(reader.hasBegun && reader.places == places)
      #expect(try reader.next() == Self.frame)
    }
  }

  /// One of an earlier version says nothing before it is sent something.
  @Test func aMarkerWithNothingBehindItIsAnAnswerOnceThatIsAccepted() throws {
    var reader = AnswerReader(marker: "bridge-1")
    try reader.append(Array("hello\nbridge-1".utf8))
    reader.acceptSilence()
    #expect(reader.progress == .begun)
    try reader.append(Self.frame.encoded)
    #expect(try reader.next() == Self.frame)
  }

  @Test func framesFollowTheMarkerWhereverTheBytesAreCut() throws {
    let bytes =
      Array("Welcome to build!\nbridge".utf8) + Array("bridge-1".utf8) + Self.frame.encoded
    for cut in 0...bytes.count {
      var reader = AnswerReader(marker: "bridge-1")
      try reader.append(Array(bytes[..<cut]))
      var frames: [Frame] = []
      while let frame = try reader.next() { frames.append(frame) }
      try reader.append(Array(bytes[cut...]))
      while let frame = try reader.next() { frames.append(frame) }
      #expect(frames == [Self.frame])
      #expect(reader.isComplete)
      #expect(String(decoding: reader.preamble, as: UTF8.self) == "Welcome to build!\nbridge")
    }
  }

  @Test func aPreambleWithoutEndIsRefused() throws {
    var reader = AnswerReader(marker: "bridge-1")
    let line = [UInt8](repeating: 0x61, count: AnswerReader.preambleLimit / 16)
    for _ in 0..<16 { try reader.append(line) }
    #expect(reader.preamble.count < 4096)
    #expect(throws: AnswerReader.Failure.noMarker) { try reader.append([0x61]) }
  }

  @Test func aBrokenFrameIsAViolation() throws {
    var reader = AnswerReader(marker: "m")
    try reader.append([0x6D, 99] + [UInt8](repeating: 0, count: 15))
    #expect(throws: AnswerReader.Failure.self) { try reader.next() }
    #expect(throws: AnswerReader.Failure.self) { try reader.next() }
  }

  /// It is over soon, and nothing is to be remembered of the host.
  @Test(arguments: [
    ("bash: fork: retry: Die Ressource ist zur Zeit nicht verfügbar", true),
    ("/bin/sh: 1: Cannot fork", true), ("zsh: fork failed: resource temporarily unavailable", true),
    ("No more processes.", true), ("sh: error: Cannot allocate memory", true),
    ("This account is currently not available.", false), ("backup: 3 files", false),
  ])
  func aShellWithoutProcessesIsAShortage(printed: String, isShortage: Bool) {
    let error = SessionFailure.unanswered(
      status: 254, printed: Array(printed.utf8), hasBegun: false, host: "build")
    #expect(SessionFailure.isOfAShortage(error) == isShortage)
  }
}
