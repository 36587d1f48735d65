public import BridgeSupervision
public import ServiceLifecycle

/// A supervisor as a service: it keeps its connections up until a shutdown is requested, then
/// closes them and returns when the last descriptor is closed.
public struct SupervisorService<C: Clock>: Service where C.Duration == Duration {
  /// What it runs.
  public let supervisor: Supervisor<C>

  /// `supervisor` as a service. Connections may be added before and while it runs.
  public init(_ supervisor: Supervisor<C>) {
    self.supervisor = supervisor
  }

  /// Runs until a graceful shutdown or a cancellation.
  ///
  /// - Throws: `CancellationError` when it was canceled rather than shut down; the connections are
  ///   being closed then, but not waited for.
  public func run() async throws {
    let events = supervisor.events()
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        for await _ in events {}
      } onGracefulShutdown: {
        supervisor.requestShutDown()
      }
    } onCancel: {
      supervisor.requestShutDown()
    }
    try Task.checkCancellation()
  }
}
