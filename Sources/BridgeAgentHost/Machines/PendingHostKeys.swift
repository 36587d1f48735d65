/// The lists of host keys that people are asked about, for one reader: the present one first, then
/// the newest whenever it differs. It ends when its task is canceled.
public struct PendingHostKeys: AsyncSequence, Sendable {
  /// What it yields.
  public typealias Element = [PendingHostKey]
  /// It does not fail.
  public typealias Failure = Never

  let questions: HostKeyQuestions

  /// A reader.
  public func makeAsyncIterator() -> Iterator { Iterator(questions: questions) }

  /// One pass over the lists.
  public struct Iterator: AsyncIteratorProtocol {
    let questions: HostKeyQuestions
    private var last: [PendingHostKey]?

    init(questions: HostKeyQuestions) { self.questions = questions }

    /// The next list; nil when the task is canceled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Never) -> [PendingHostKey]? {
      guard let pending = await questions.pending(otherThan: last) else { return nil }
      last = pending
      return pending
    }
  }
}
