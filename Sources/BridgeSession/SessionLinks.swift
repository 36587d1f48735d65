public import BridgeErrors
public import BridgeTransport
import BridgeWaiting

/// The links of one supervised connection, handed to what runs on them: one generation after the
/// other. A durable session over it is suspended with its link, and attached again with the next.
///
/// The supervising program calls `use` in `onGeneration` and `fail` when the supervisor gives up;
/// nothing is retried here.
public actor SessionLinks<Link: Connection & ByteChannelSource> {
  private var newest: (link: Link, generation: Int)?
  private var failure: AppError?
  private let refusalPauses: [Duration]
  private let changes = Changes()

  /// No link yet.
  public init() { self.init(refusalPauses: RefusalRetry.usual) }

  /// Likewise, with these pauses of a session whose host refuses it.
  package init(refusalPauses: [Duration]) { self.refusalPauses = refusalPauses }

  /// A generation is in use from now on.
  public func use(_ link: Link, generation: Int) {
    guard newest.map({ $0.generation < generation }) ?? true else { return }
    newest = (link, generation)
    failure = nil
    changes.announce()
  }

  /// There will be no other link: a caller that waits for one gets `error`.
  public func fail(_ error: AppError) {
    failure = error
    changes.announce()
  }

  /// A channel on the link in use; where there is none, on the next one.
  ///
  /// - Parameter isAgain: whether it is for a session that was attached before: that waits for a
  ///   host that refuses it, as long as `RefusalRetry` does.
  /// - Throws: what a link that goes on refused it with; what was given to `fail`; `cancelled`.
  public func channel(
    running command: String, isAgain: Bool = false
  ) async throws(AppError) -> any ByteChannel {
    var last = 0
    var retry = RefusalRetry(isAgain ? refusalPauses : [])
    while true {
      guard let (link, generation) = newest, generation > last else {
        if let failure { throw failure }
        try await changes.wait(after: changes.version)
        continue
      }
      do throws(AppError) {
        if let channel = try await open(command, on: link) { return channel }
        last = generation
      } catch {
        try await retry.wait(after: error)
      }
    }
  }

  /// A session over these links: attached with the one in use, and again with each later one.
  public nonisolated func session(_ configuration: DurableSession.Configuration) -> DurableSession {
    DurableSession(configuration) { command, last throws(AppError) in
      try await self.channel(running: command, isAgain: last != nil)
    }
  }

  /// The newest link, where that is a later one than of `generation`; else the next one.
  ///
  /// - Throws: what was given to `fail`; `cancelled`.
  package func link(
    after generation: Int
  ) async throws(AppError) -> (link: Link, generation: Int) {
    while true {
      if let newest, newest.generation > generation { return newest }
      if let failure { throw failure }
      try await changes.wait(after: changes.version)
    }
  }

  /// A channel on `link`; nil where that has ended.
  ///
  /// - Throws: what a link that goes on refused it with; `cancelled`.
  package func open(
    _ command: String, on link: Link
  ) async throws(AppError) -> (any ByteChannel)? {
    do throws(AppError) {
      return try await link.channel(running: command)
    } catch {
      if error == .cancelled, Task.isCancelled { throw error }
      guard await link.lastFailure != nil || error == .cancelled else { throw error }
      return nil
    }
  }
}
