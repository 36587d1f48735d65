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
  /// Whether a channel was opened on one of the links.
  private var hasOpened = false
  private let refusalPauses: [Duration]
  private let changes = Changes()

  /// No link yet.
  public init() { self.init(refusalPauses: Self.refusalPauses) }

  /// Likewise, with these pauses between a host that refuses what it has allowed before and the
  /// next try.
  package init(refusalPauses: [Duration]) { self.refusalPauses = refusalPauses }

  /// Half a minute together: by then an account is not short of processes for a moment only.
  private static var refusalPauses: [Duration] {
    [500, 1000, 2000, 4000, 8000, 15_000].map { .milliseconds($0) }
  }

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

  /// A channel on the link in use; where there is none, on the next one. A host that has opened one
  /// before and refuses this one, since it has no process left for instance, is asked again.
  ///
  /// - Throws: what a link that goes on refused it with; what was given to `fail`; `cancelled`.
  public func channel(running command: String) async throws(AppError) -> any ByteChannel {
    var last = 0
    var pauses = refusalPauses[...]
    while true {
      guard let (link, generation) = newest, generation > last else {
        if let failure { throw failure }
        try await changes.wait(after: changes.version)
        continue
      }
      switch await opened(command, on: link) {
      case .success(let channel?): return channel
      case .success(nil): last = generation
      case .failure(let error):
        guard hasOpened, Self.mayPass(error), let pause = pauses.popFirst() else { throw error }
        try await rest(pause)
      }
    }
  }

  private func opened(
    _ command: String, on link: Link
  ) async -> Result<(any ByteChannel)?, AppError> {
    do throws(AppError) {
      let channel = try await open(command, on: link)
      if channel != nil { hasOpened = true }
      return .success(channel)
    } catch {
      return .failure(error)
    }
  }

  private func rest(_ pause: Duration) async throws(AppError) {
    do { try await ContinuousClock().sleep(for: pause) } catch { throw .cancelled }
  }

  /// Whether a refusal may be one for the moment.
  private static func mayPass(_ error: AppError) -> Bool {
    switch error {
    case .sshConnectionFailed, .sshServerBusy: true
    case _: false
    }
  }

  /// A session over these links: attached with the one in use, and again with each later one.
  public nonisolated func session(_ configuration: DurableSession.Configuration) -> DurableSession {
    DurableSession(configuration) { command, _ throws(AppError) in
      try await self.channel(running: command)
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
