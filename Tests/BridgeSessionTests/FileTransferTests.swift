import BridgeErrors
import BridgeReactor
import BridgeSession
import BridgeSessionProtocol
import BridgeTestKit
import BridgeWaiting
import Foundation
import Testing

/// A copy whose other end is the test.
@Suite(.timeLimit(.minutes(5))) struct FileTransferTests {
  private func transfer(
    _ role: FileRequest.Role, _ clock: ManualClock, key: [UInt8]? = nil, isInto: Bool = false,
    local: String = NSTemporaryDirectory() + "/bridge-transfer-\(UUID().uuidString)"
  ) -> FileTransfer {
    var job = FileTransfer.Job(
      role, local: Array(local.utf8), remote: [97], name: nil, isRecursive: false,
      transfer: Identifier(high: 1, low: 2), run: Identifier(high: 3, low: 4))
    job.key = key
    job.isInto = isInto
    return FileTransfer(job, host: "far", on: Reactor(name: "files"), clock: clock) { _ in }
  }

  private func request(_ transfer: FileTransfer, answer: FileFrame?) async throws -> FileRequest {
    let command = transfer.command(usesTools: false)
    let channel = ScriptedChannel(command.text)
    channel.send(Array((command.marker + FileLimits.greeting).utf8))
    let isOver = Mutex(false)
    let carrying = Task {
      defer { isOver.withLock { $0 = true } }
      _ = try await transfer.carry(over: channel, command)
    }
    try await eventually {
      try isOver.withLock { $0 } || Self.request(over: channel) != nil
    }
    channel.send(answer?.encoded ?? [])
    channel.hangUp()
    try await carrying.value
    return try #require(try Self.request(over: channel))
  }

  private static func request(over channel: ScriptedChannel) throws -> FileRequest? {
    var parser = FileFrameParser()
    parser.append(channel.sentBytes)
    guard case .open(let request)? = try parser.next() else { return nil }
    return request
  }

  @Test(arguments: [FileRequest.Role.get, .put])
  func anOlderBridgeHostIsAskedForSHA256(_ role: FileRequest.Role) async throws {
    let key = [UInt8](repeating: 7, count: 16)
    let transfer = transfer(role, ManualClock(), key: key)
    let first = try await request(transfer, answer: .failed(FileFault(.version, "version 3")))
    #expect(first.key == key)
    #expect(try await request(transfer, answer: nil).key == nil)
  }

  /// A host of any version takes that the copy lies inside, and refuses what is no directory.
  @Test func severalAreWrittenIntoADirectoryOfTheHost() async throws {
    let transfer = transfer(.put, ManualClock(), isInto: true)
    #expect(try await request(transfer, answer: nil).point?.isInside == true)
    let error = await failure {
      try await request(transfer, answer: .failed(FileFault(.notDirectory)))
    }
    let reason =
      "it, or what leads to it, is not an existing directory; "
      + "several sources need a directory there"
    #expect(error == .fileWriteError(path: "far:a", reason: reason))
    #expect(await transfer.ended?.fault == FileFault(.notDirectory))
    let single = self.transfer(.put, ManualClock())
    #expect(try await request(single, answer: nil).point?.isInside == nil)
  }

  @Test func severalAreWrittenIntoADirectoryHere() async throws {
    let transfer = transfer(.get, ManualClock(), isInto: true, local: "/dev/null")
    let error = await failure { try await request(transfer, answer: nil) }
    guard case .fileWriteError("/dev/null", let reason) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      reason.hasSuffix("is not an existing directory; several sources need a directory there"))
  }

  /// The link may go on for ever: the program at its other end is what says nothing. It has half a
  /// minute for the greeting, and a minute more or less behind that.
  @Test(arguments: [FileRequest.Role.get, .put], [true, false])
  func aHostThatSaysNothingHasItsTime(_ role: FileRequest.Role, greets: Bool) async throws {
    let clock = ManualClock()
    let transfer = transfer(role, clock)
    let command = transfer.command(usesTools: false)
    let channel = ScriptedChannel(command.text)
    if greets { channel.send(Array((command.marker + FileLimits.greeting).utf8)) }
    async let error = failure { try await transfer.carry(over: channel, command) }
    await clock.sleepers(atLeast: 2)
    guard greets else {
      clock.advance(by: .seconds(30))
      #expect(await error?.caseName == "durableSessionHostUnusable")
      #expect(channel.sentBytes.isEmpty)
      return
    }
    // The request is sent to a host that greets only.
    try await eventually { !channel.sentBytes.isEmpty }
    clock.advance(by: .seconds(60))
    #expect(await error == .sshTimeout(seconds: 60))
  }

  /// Without `bridge-host` the end that reads the request is here: it hears of what that refuses.
  @Test func aRequestThatIsRefusedHereEndsTheCopy() async throws {
    let job = FileTransfer.Job(
      .get, local: Array("none".utf8), remote: Array("r".utf8),
      name: [UInt8](repeating: 0x7A, count: FileLimits.name + 1), isRecursive: false,
      transfer: Identifier(high: 1, low: 2), run: Identifier(high: 3, low: 4))
    let transfer = FileTransfer(job, host: "far", on: Reactor(name: "files"), clock: ManualClock())
    {
      _ in
    }
    let command = transfer.command(usesTools: true)
    let channel = ScriptedChannel(command.text)
    channel.send(Array("\(command.marker)tools y y far.1\n".utf8))
    let error = await failure {
      try await transfer.carry(over: channel, command, usesTools: true)
    }
    #expect(error == .sshProtocolError(host: "far", detail: "bridge-host: malformed fields: name"))
  }
}
