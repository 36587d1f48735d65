import BridgeErrors
import BridgeSSH
import BridgeTerminal
import BridgeWaiting

/// A session of another run over the connection of this one, between a channel and the descriptors
/// that the other has passed.
final class SharedSession: Sendable {
  private let request: ControlRequest.Session
  private let terminal: Int32?
  private let input: DescriptorReader
  private let output: DescriptorWriter
  private let errors: DescriptorWriter
  private let keyboard: Keyboard?
  /// The modes that output has set of the terminal.
  private let screen: OutputScreen?
  private let sizes = Resizes()
  /// The user has left it.
  private let isLeft = Latch()

  /// Takes over the descriptors of `packet`, for input, output and errors; nil where the terminal
  /// is one that this process may not read: it is controlled by it, and in its background.
  init?(_ request: ControlRequest.Session, _ packet: ControlStream.Packet) {
    guard let first = packet.passed.first else { return nil }
    let hasTerminal = request.terminal != nil && TerminalModes.isTerminal(first)
    guard !hasTerminal || JobControl.mayRead(first) else { return nil }
    let descriptors = packet.takeDescriptors()
    self.request = request
    terminal = hasTerminal ? descriptors[0] : nil
    input = DescriptorReader(descriptors[0], ownsDescriptor: true)
    output = DescriptorWriter(descriptors[1], ownsDescriptor: true)
    errors = DescriptorWriter(descriptors[2], ownsDescriptor: true)
    keyboard = hasTerminal ? Keyboard(tilde: request.escape) : nil
    screen = hasTerminal ? OutputScreen(nil) : nil
  }

  /// Its terminal may have another size.
  func resized() {
    if let terminal, let size = TerminalSize(of: terminal) { sizes.yield(size) }
  }

  /// Carries it until its end, and says how that was. An end without a word is that of the client,
  /// or of the connection.
  ///
  /// - Parameter id: of the client's request.
  /// - Returns: whether the host has given a sign of life.
  func run(
    over connection: SSHConnection, number: UInt32, asked id: UInt32, _ client: ControlStream
  ) async -> Bool {
    defer {
      input.stop()
      output.finish()
      errors.finish()
    }
    let channel: SSHChannel
    let opened = ControlReply.opened(id, session: number)
    do throws(AppError) {
      try await Self.check(connection)
      channel = try await connection.start(
        request.program, terminal: pseudoTerminal, environment: request.environment)
    } catch {
      let isUnknown = error.caseName == AppError.sshOutcomeUnknown(command: "").caseName
      // One that may have run is not run again: by what follows the client learns that it is lost,
      // and a refusal would send it to a connection of its own.
      let reply =
        isUnknown || error == .cancelled
        ? opened : .failed(id, PeerText.escaped(error.shownMessage(), limit: 1024))
      client.send(reply.packet)
      client.close()
      return error.caseName != AppError.sshTimeout(seconds: 0).caseName
    }
    client.send(opened.packet)
    if request.terminal != nil, !channel.hasTerminal {
      client.send(ControlReply.withoutTerminal(session: number).packet)
    }
    let end = await carry(channel)
    if let reset = screen?.takeReset(), !reset.isEmpty { output.post(reset, isUnbounded: true) }
    if let status = status(of: end) {
      await output.drain()
      await errors.drain()
      client.send(ControlReply.ended(session: number, status: status).packet)
    }
    client.close()
    await channel.close()
    return true
  }

  /// Nothing is started over a connection that is dead, which nothing would end: a host that has
  /// said nothing for a while is asked for a sign of life first.
  ///
  /// - Throws: as `SSHConnection.probe`.
  private static func check(_ connection: SSHConnection) async throws(AppError) {
    if let heard = await connection.lastHeard, .now - heard < silence { return }
    _ = try await connection.probe(within: answerLimit)
  }

  private static let silence = Duration.seconds(1)
  private static let answerLimit = Duration.seconds(10)

  /// What the client learns of it; nil where the end is not known.
  private func status(of end: SessionEnd) -> UInt32? {
    switch end {
    case .ended(let status): return Self.number(of: status)
    case .failed: return nil
    case .outputClosed:
      if let error = StandardOutput.error(output.failure, isTerminal: false) {
        errors.post("ssh: \(PeerText.escaped(error.shownMessage()))\n", isUnbounded: true)
      }
      return UInt32(ExitReport.failureOfSSH)
    }
  }

  /// As ssh(1): 255 for the end by a signal.
  private static func number(of status: ExitStatus) -> UInt32 {
    switch status {
    case .status(let number): UInt32(truncatingIfNeeded: number)
    case .signal: 255
    }
  }

  private var pseudoTerminal: PseudoTerminal? {
    guard let type = request.terminal else { return nil }
    let size = terminal.flatMap { TerminalSize(of: $0) } ?? TerminalSize()
    return PseudoTerminal(
      type: type.isEmpty ? "dumb" : type, size: size,
      modes: terminal.map { TerminalModes.encoded(of: $0) } ?? [], isRequired: false)
  }

  private func carry(_ channel: SSHChannel) async -> SessionEnd {
    let sizes = sizes.next()
    resized()
    keyboard?.open()
    let ends = SessionEnds(
      write: { bytes in
        _ = self.screen?.see([bytes])
        return await self.output.write(bytes)
      },
      writeErrors: { await self.errors.write($0) },
      carryInput: { await self.carryInput(to: $0) }, sizes: sizes,
      // Of a reader that is gone, not of a disk that is full.
      discardsOutput: { StandardOutput.error(self.output.failure, isTerminal: false) == nil },
      outlived: {})
    return await withTaskGroup(of: SessionEnd.self) { group in
      group.addTask { await RemoteSession(channel, ends).run() }
      group.addTask {
        await self.isLeft.wait()
        guard !Task.isCancelled else { return .failed(.cancelled) }
        // As ssh(1), where the user has left.
        return .ended(.status(Int(ExitReport.failureOfSSH)))
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failed(.cancelled)
    }
  }

  private func carryInput(to channel: SSHChannel) async {
    guard let keyboard else {
      return await SessionEnds.carry(to: channel) { _ in await input.read() }
    }
    await withDiscardingTaskGroup { group in
      group.addTask { await keyboard.carry(to: channel) }
      await keyboard.listen(to: input, now: { ContinuousClock.now }) { obey($0, keyboard) }
    }
  }

  private func obey(_ command: Keyboard.Command, _ keyboard: Keyboard) {
    switch command {
    case .escape(.disconnect): isLeft.open()
    case .escape(.help):
      say(["~. ends the session, ~~ is that character; it shares the connection of another run."])
    case .escape(.bytes), .escape(.report), .key, .sendsHeld: break
    case .escape: say(["Not available over the connection of another run."])
    }
    func say(_ lines: [String]) {
      for line in lines {
        errors.post("\r\n\(keyboard.spelled(line) ?? line)\r\n", isUnbounded: true)
      }
    }
  }
}
