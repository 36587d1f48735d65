import BridgeReactor
import BridgeSSH

/// What gives other runs a part in the connection of a run.
protocol ConnectionSharer: Sendable {
  /// How many sessions others have.
  var count: Int { get async }

  /// Takes other runs in, until `close`.
  func serve() async

  /// Opens the ports that others ask for by `forwards`.
  func use(_ forwards: RunForwards?) async

  /// Shares `connection` from now on; false where the run is of no use, because another one shares
  /// its own.
  func use(_ connection: SSHConnection) async -> Bool

  /// A window has another size.
  func resized() async

  /// Returns when no session of others is left.
  func untilIdle() async

  /// Ends all of it.
  func close() async
}

/// How a run begins, where it may have a part in the connection of another.
enum RunBeginning: Sendable {
  /// The run whose connection is to be shared.
  struct Sharing: Sendable {
    let reporter: Reporter
    /// Whether it does nothing else.
    let isIdle: Bool
    /// Its thread.
    let reactor: Reactor
    /// Ends it.
    let end: @Sendable () -> Void
  }

  /// It was over the connection of another, or was about that.
  case ended(ExitReport)
  /// It has its own, which is shared so; nil where it is not.
  case own((@Sendable (Sharing) -> any ConnectionSharer)?)
}
