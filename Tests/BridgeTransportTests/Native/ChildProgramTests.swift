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
