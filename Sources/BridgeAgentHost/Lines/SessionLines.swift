public import BridgeErrors
public import BridgeSession
import BridgeSessionProtocol

/// The output of a durable session by lines, of both streams in the order in which they ended; one
/// reader.
///
///     let lines = session.lines(after: stored)
///     for try await line in lines {
///       try await store(line, lines.point(after: line))
///     }
///
/// A line is committed once the loop comes back for the next one: what a body that throws, or a
/// process that is killed, had not finished is handed over again by the next reader. A reader that
/// stores a point with the effect of a line, in one transaction, gets each line once. Nothing is
/// lost when a connection ends. Bounded: a reader that stops holds back the host after a window
/// (4 MiB) and the lines of 256 KiB; what is unfinished of a line takes the limit more.
public actor SessionLines: AsyncSequence {
  /// A line, a part of one, or a gap in their place.
  public typealias Element = SessionLine
  /// Why the session is over for this client.
  public typealias Failure = AppError

  /// When a line is committed.
  public enum Commits: Sendable {
    /// When the next one is requested.
    case withTheNextLine
    /// When `commit` is called.
    case whenCalled
  }

  /// The session that is read.
  public nonisolated let session: DurableSession
  /// When a line is committed.
  public nonisolated let commits: Commits
  /// How far a former run of the application was; nil for the beginning.
  private nonisolated let start: LinePoint?
  private var splitter: LineSplitter
  private var newest: SessionLine?
  private var isAtEnd = false

  init(_ session: DurableSession, limit: Int, after start: LinePoint?, commits: Commits) {
    self.session = session
    self.commits = commits
    self.start = start
    splitter = LineSplitter(.init(line: Swift.max(1, limit)), after: start)
  }

  /// Records that `line`, and all that was handed over before it, has done its work: the host may
  /// give it up, and a later reader does not get it again.
  public func commit(_ line: SessionLine) async {
    splitter.commit(line)
    await session.commit(through: splitter.committedOutput)
  }

  /// What to store with the effect of `line`, and before that is committed: a reader that begins
  /// there does not get it again, nor what was handed over before it. nil before the host's first
  /// answer.
  public func point(after line: SessionLine) async -> LinePoint? {
    var next = splitter
    next.commit(line)
    return await session.resumePoint.map { next.point(epoch: $0.epoch) }
  }

  /// What was committed; nil before the host's first answer.
  package var point: LinePoint? {
    get async { await session.resumePoint.map { splitter.point(epoch: $0.epoch) } }
  }

  /// Takes the lines in order.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let lines: SessionLines

    /// The next line; nil after the last one, and when this client leaves.
    ///
    /// - Throws: why the session is over for this client; `validationError` where the session does
    ///   not begin where the lines do; `cancelled`.
    public func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(AppError) -> SessionLine? {
      try await lines.next()
    }
  }

  /// An iterator; two of one value share its lines.
  public nonisolated func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lines: self) }

  private func next() async throws(AppError) -> SessionLine? {
    if let newest, commits == .withTheNextLine { await commit(newest) }
    newest = nil
    try requireStart()
    while true {
      newest = splitter.next()
      if newest != nil || isAtEnd { return newest }
      if let chunks = try await session.output.makeAsyncIterator().next(upTo: Self.batch) {
        for chunk in chunks { splitter.append(chunk) }
      } else {
        // A client that leaves has seen the beginning of a line whose rest is still to come.
        guard let end = await session.ending else { return nil }
        isAtEnd = true
        splitter.finish(isCut: end.isUnknown)
      }
    }
  }

  private static let batch = 256 << 10

  private func requireStart() throws(AppError) {
    guard session.configuration.resume != start?.output else { return }
    throw .validationError(
      field: "resume", message: "The session does not begin where its lines are to.")
  }
}

extension DurableSession {
  /// Its output by lines.
  ///
  /// - Parameters:
  ///   - limit: the longest line that is handed over as one, in bytes, from 1; a longer one comes
  ///     in parts.
  ///   - point: how far a former run of the application was. The `resume` of the configuration is
  ///     its `output`.
  ///   - commits: when a line is committed.
  public nonisolated func lines(
    limit: Int = 1 << 20, after point: LinePoint? = nil,
    commits: SessionLines.Commits = .withTheNextLine
  ) -> SessionLines {
    SessionLines(self, limit: limit, after: point, commits: commits)
  }
}
