import BridgeTransport
import Foundation
import Testing

@Suite struct ChildProgramTests {
  /// What it wrote to the descriptor `number`, and its exit status (-1 after a signal).
  private func run(
    _ words: [String], path: String? = nil, writesTo number: Int32 = 1
  ) throws -> (output: String, status: Int32) {
    // Close-on-exec at once: a program that another test starts meanwhile must not hold it open.
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let isMade = unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0
    try #require(isMade)
    defer { close(ends[0]) }
    let child = try ChildProgram(words, path: path, streams: [number: ends[1]]).start()
    close(ends[1])
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(ends[0], &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      output += buffer[..<count]
    }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
    let text = String(decoding: output, as: UTF8.self)
    return (text, status & 0x7F == 0 ? status >> 8 & 0xFF : -1)
  }

  @Test func aNameIsLookedForInPathAndGetsItsArguments() throws {
    let run = try run(["sh", "-c", #"printf "%s|" "$0" "$@"; exit 7"#, "a b", "", "c"])
    #expect(run.output == "a b||c|")
    #expect(run.status == 7)
  }

  @Test(arguments: [("exit 0", 0), ("exit 7", 7), ("read x", 1), ("echo x; exit 3", 3)])
  func theStatusOfARunIsReturned(_ script: String, _ status: Int32) throws {
    let program = ChildProgram(["sh", "-c", script], empty: [0, 1])
    #expect(try program.run(within: .seconds(60)) == .exited(status))
  }

  @Test(
    arguments: [
      ("echo a; echo b; exit 3", .exited(3), "a\nb\n"), ("exit 0", .exited(0), ""),
      ("echo a; kill -USR1 $$", .signaled(SIGUSR1), "a\n"),
      // Its output has ended, it goes on.
      ("echo a; exec >&-; exit 4", .exited(4), "a\n"),
      // Another one has its output still: that is its output, too.
      ("(sleep 0.2; echo late) & echo a; exit 5", .exited(5), "a\nlate\n"),
      (
        "head -c 1000 /dev/zero | tr '\\0' x; exit 6", .exited(6),
        String(repeating: "x", count: 1000)
      ),
    ] as [(String, ChildProgram.Ending, String)])
  func theOutputOfARunIsReturned(
    _ script: String, _ ending: ChildProgram.Ending, _ text: String
  ) throws {
    let program = ChildProgram(["sh", "-c", script], empty: [0])
    let run = try program.output(within: .seconds(60), most: 1000)
    #expect(run.ending == ending)
    #expect(run.bytes == Array(text.utf8))
  }

  @Test(arguments: ["head -c 1001 /dev/zero; exit 0", "exec cat /dev/zero", "exec yes"])
  func anOutputThatIsTooLongIsNone(_ script: String) throws {
    let program = ChildProgram(["sh", "-c", script], empty: [0])
    #expect(try program.output(within: .seconds(60), most: 1000).bytes == nil)
  }

  /// Also where it closed its output, and where another one has it still.
  @Test(arguments: [
    "sleep 1000; true", "exec >&-; sleep 1000; true", "sleep 1000 & exec sleep 1000",
  ])
  func anOutputThatIsOverdueIsEndedWithItsProgram(_ script: String) throws {
    let program = ChildProgram(["sh", "-c", "echo a; \(script)"], empty: [0])
    let run = try program.output(within: .milliseconds(300), most: 1000)
    #expect(run.ending == .overdue)
    #expect(run.bytes == Array("a\n".utf8))
  }

  @Test func aSignalIsNoStatus() throws {
    let program = ChildProgram(["sh", "-c", "kill -USR1 $$"], empty: [0, 1])
    #expect(try program.run(within: .seconds(60)) == .signaled(SIGUSR1))
  }

  /// Also what it starts at that moment.
  @Test(arguments: [
    "(sleep 1000; true) & sleep 1000; true", "while true; do sleep 1000 & sleep 0.01; done",
  ])
  func whatIsOverdueIsKilledWithAllThatItStarted(_ script: String) throws {
    // A descriptor that all of them hold open: its end says that none is left.
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    let isMade = unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0
    try #require(isMade)
    defer { close(ends[0]) }
    let program = ChildProgram(
      ["sh", "-c", script], streams: [5: ends[1]], empty: [0, 1])
    #expect(try program.run(within: .milliseconds(300)) == .overdue)
    close(ends[1])
    // Its end is there at once; where one of them lives on, it never comes.
    var end = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&end, 1, 30_000) == 1)
  }

  @Test func theFileMayHaveAnotherNameThanTheProgram() throws {
    #expect(try run(["other", "-c", #"printf %s "$0""#], path: "/bin/sh").output == "other")
  }

  @Test func aDescriptorIsTheOneThatItIsGiven() throws {
    #expect(try run(["sh", "-c", "printf here >&5"], writesTo: 5).output == "here")
  }

  @Test func noSignalIsBlockedOrIgnored() throws {
    // SIGURG does nothing by default, so that other tests do not see the difference.
    var blocked = sigset_t()
    unsafe sigemptyset(&blocked)
    unsafe sigaddset(&blocked, SIGURG)
    _ = signal(SIGURG, SIG_IGN)
    unsafe pthread_sigmask(SIG_BLOCK, &blocked, nil)
    defer {
      unsafe pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
      _ = signal(SIGURG, SIG_DFL)
    }
    let lines = try run(["cat", "/proc/self/status"]).output.split(separator: "\n")
    let masks = lines.filter { $0.hasPrefix("SigBlk") || $0.hasPrefix("SigIgn") }
    #expect(masks.count == 2)
    for mask in masks {
      let signals = try #require(UInt64(mask.suffix(16), radix: 16))
      #expect(signals == 0, "\(mask)")
    }
  }

  @Test func aProgramThatIsNotThereIsAFailureWithTheSystemsWords() throws {
    let failure = try #require(
      throws: ChildProgram.StartFailure.self
    ) { try ChildProgram(["no-such-program"]).start() }
    #expect(failure.errno == ENOENT)
    #expect(failure.words == "No such file or directory")
  }
}
