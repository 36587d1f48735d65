import BridgeCommands
import BridgeErrors
import Testing

/// The exit code of a run, and its last words.
@Suite struct RunEndingTests {
  private static let lost = CommandFailure(error: .sshTimeout(seconds: 5))

  private func circumstances(
    isOpenEnded: Bool = false, wasUp: Bool = true, hadKeyboard: Bool = false,
    isTerminal: Bool = true
  ) -> RunEnding.Circumstances {
    var circumstances = RunEnding.Circumstances()
    circumstances.isOpenEnded = isOpenEnded
    circumstances.wasUp = wasUp
    circumstances.hadKeyboard = hadKeyboard
    circumstances.isTerminal = isTerminal
    return circumstances
  }

  @Test func aResultIsTheExitCode() {
    let success = RunEnding(.success(.interrupted), signal: nil, circumstances())
    #expect(success.code == ExitCode.interrupted.rawValue)
    #expect(success.words == .none)
    let failure = RunEnding(.failure(Self.lost), signal: nil, circumstances())
    #expect(failure.code == Self.lost.exitCode)
    #expect(failure.words == .failure(Self.lost))
  }

  @Test func aPeerThatClosedAsAgreedIsNoFailure() {
    let closed = CommandFailure(error: .webSocketDisconnected(code: 1000, reason: nil))
    let ending = RunEnding(.failure(closed), signal: nil, circumstances())
    #expect(ending.code == 0)
    #expect(ending.words == .none)
  }

  @Test(
    arguments: [
      (130, true, true, .disconnected), (130, true, false, nil), (130, false, true, nil),
      (143, true, true, RunEnding.Words.none), (129, true, true, RunEnding.Words.none),
      (143, false, true, nil), (129, true, false, nil),
    ] as [(Int32, Bool, Bool, RunEnding.Words?)])
  func aSignalIsTheWayOutOfWhatHasNoEnd(
    signal: Int32, isOpenEnded: Bool, wasUp: Bool, words: RunEnding.Words?
  ) {
    let ending = RunEnding(
      .failure(CommandFailure(error: .cancelled)), signal: signal,
      circumstances(isOpenEnded: isOpenEnded, wasUp: wasUp))
    #expect(ending.code == signal)
    let failure = CommandFailure(error: .cancelled, signal: signal)
    #expect(ending.words == words ?? .failure(failure))
  }

  @Test(
    arguments: [
      (nil, true, true, true, false), (nil, false, true, true, true),
      (nil, false, false, true, false), (130, false, false, true, true),
      (130, false, false, false, false), (143, false, false, true, false),
      (143, false, true, true, true), (143, true, true, true, true),
    ] as [(Int32?, Bool, Bool, Bool, Bool)])
  func theLineOfAPromptIsLeftFirst(
    signal: Int32?, isSuccess: Bool, hadKeyboard: Bool, isTerminal: Bool, leavesLine: Bool
  ) {
    let ending = RunEnding(
      isSuccess ? .success(.interrupted) : .failure(Self.lost), signal: signal,
      circumstances(hadKeyboard: hadKeyboard, isTerminal: isTerminal))
    #expect(ending.leavesLine == leavesLine)
  }
}
