import BridgeTerminal
import BridgeWaiting

/// Standard input of what runs remotely, once or more often.
final class CommandInput: Sendable {
  private let replayBuffer: Mutex<ReplayBuffer>
  private let reader: DescriptorReader

  init(_ reader: DescriptorReader, isKept: Bool) {
    self.reader = reader
    replayBuffer = Mutex(ReplayBuffer(isKept: isKept))
  }

  /// Whether another run would get all that the one before got.
  var isWhole: Bool { replayBuffer.withLock { $0.isWhole } }

  /// Chunk number `index`, from 0 in every run.
  func read(_ index: Int) async -> DescriptorReader.Chunk {
    if let bytes = replayBuffer.withLock({ $0.chunk(index) }) { return .bytes(bytes) }
    let chunk = await reader.read()
    if case .bytes(let bytes) = chunk { replayBuffer.withLock { $0.record(bytes) } }
    return chunk
  }
}
