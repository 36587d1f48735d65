import BridgeErrors
import BridgeSSH
import BridgeTerminal

/// The ends here of a session's streams.
struct SessionEnds: Sendable {
  /// Writes output.
  var write: @Sendable ([UInt8]) async -> DescriptorWriter.Outcome
  /// Writes errors.
  var writeErrors: @Sendable ([UInt8]) async -> DescriptorWriter.Outcome
  /// Carries input to the channel, and its end, until there is no more.
  var carryInput: @Sendable (SSHChannel) async -> Void
  /// Sizes of the terminal from now on.
  var sizes: AsyncStream<TerminalSize>
  /// Called with each of them before the channel has it.
  var resized: @Sendable (TerminalSize) -> Void = { _ in }
  /// Whether output that nothing reads any more may be dropped.
  var discardsOutput: @Sendable () -> Bool
  /// Called where the program has ended, its output has not, and nothing comes.
  var outlived: @Sendable () -> Void
  let clock = ContinuousClock()
}

extension SessionEnds {
  /// Input that is read in chunks, from number 0 on.
  static func carry(
    to channel: SSHChannel, _ read: (_ index: Int) async -> DescriptorReader.Chunk
  ) async {
    var index = 0
    do throws(AppError) {
      while true {
        switch await read(index) {
        case .bytes(let bytes):
          index += 1
          try await channel.write(bytes)
        case .end: return try await channel.finishInput()
        case .cancelled: return
        }
      }
    } catch {
      // It takes no more input; its status reports how it ends.
    }
  }
}

extension RunContext {
  /// The standard streams of this process.
  ///
  /// - Parameters:
  ///   - predicted: the user's terminal, where what is typed is shown before its echo.
  ///   - sizes: of the terminal.
  func ends(
    input: CommandInput, predicted: PredictedTerminal?, sizes: AsyncStream<TerminalSize>
  ) -> SessionEnds {
    SessionEnds(
      write: { await write([$0], through: predicted) },
      writeErrors: { await reporter.remoteError($0) },
      carryInput: { channel in
        guard let keyboard else {
          return await SessionEnds.carry(to: channel) { await input.read($0) }
        }
        await keyboard.carry(
          to: PredictedInput(target: channel, terminal: predicted, repaint: repaint))
      },
      sizes: sizes, resized: { predicted?.resize($0) },
      discardsOutput: {
        guard reporter.style.isSSH, case .success = outputEnding else { return false }
        return true
      },
      outlived: {
        reporter.log(
          "bridgectl: the command has ended; waiting for the end of its output, which a process "
            + "that it started may keep open.")
      })
  }
}
