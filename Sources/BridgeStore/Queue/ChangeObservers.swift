import BridgeWaiting

/// The readers of a store's changes.
final class ChangeObservers: Sendable {
  private enum State {
    case open([Int: AsyncStream<Void>.Continuation], last: Int)
    case finished
  }

  private let state = Mutex(State.open([:], last: 0))

  /// A stream that says at once that something may have changed, and then after each change.
  func add() -> AsyncStream<Void> {
    // Changes that were not read are one.
    let (stream, reader) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    reader.yield()
    let number = state.withLock { state -> Int? in
      guard case .open(var readers, let last) = state else { return nil }
      readers[last + 1] = reader
      state = .open(readers, last: last + 1)
      return last + 1
    }
    guard let number else {
      reader.finish()
      return stream
    }
    reader.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  func announce() {
    for reader in readers { reader.yield() }
  }

  func finish() {
    let readers = state.withLock { state in
      defer { state = .finished }
      return Self.readers(state)
    }
    for reader in readers { reader.finish() }
  }

  private var readers: [AsyncStream<Void>.Continuation] { state.withLock { Self.readers($0) } }

  private static func readers(_ state: State) -> [AsyncStream<Void>.Continuation] {
    guard case .open(let readers, _) = state else { return [] }
    return Array(readers.values)
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      guard case .open(var readers, let last) = state else { return }
      readers[number] = nil
      state = .open(readers, last: last)
    }
  }
}
