public import BridgeErrors
import BridgeRecovery
package import BridgeTransport
import BridgeWaiting

extension Supervisor {
  /// The connection in use, as soon as there is one.
  ///
  /// - Throws: what it gave up with, or what something that it depends on gave up with; the
  ///   mismatch where its host showed another key and is not dialed any more; `cancelled` when it,
  ///   or something that it depends on, is closed, when it is unknown, or when the calling task is
  ///   canceled.
  package nonisolated func connection(_ id: ConnectionID) async throws(AppError) -> any Connection {
    try await wait(for: id).get()
  }

  /// Ends a connection for good; what depends on it stays suspended.
  package func close(_ id: ConnectionID) {
    receive(.close(id))
  }

  /// Ends a connection for good, and returns when its descriptor is closed and its name is free.
  nonisolated func closeAndWait(_ id: ConnectionID) async {
    await beginClosing(id)?.value()
  }

  private func beginClosing(_ id: ConnectionID) -> Promise<Void>? {
    guard plans[id] != nil else { return nil }
    let closed = Promise<Void>()
    closers[id, default: []].append(closed)
    receive(.close(id))
    return closed
  }

  /// Dials now what waits or has given up.
  public func reconnectNow() {
    endPauses(also: true)
    receive(.reconnectNow(nil))
  }

  /// Dials one connection now, where it waits or has given up, and probes it where it is up.
  package func reconnectNow(_ id: ConnectionID) {
    receive(.reconnectNow(id))
  }

  /// Dials a connection that was lost, and waits, after `delay`: it had been of use, so that its
  /// retries and what they may cost start from the beginning, as after one that was healthy. A
  /// wait that the server requires stays as it is.
  public func redial(_ id: ConnectionID, after delay: Duration = .zero) {
    receive(.redial(id, after: delay))
  }

  /// A network path came up or changed: what waits is tried now, unless a server requires the
  /// wait, what is up is probed, and a dial that nothing has answered yet begins anew.
  public func networkChanged() {
    endPauses(also: false)
    let unanswered = generations.filter { entry in
      entry.value.values.contains { !$0.isOpen && $0.closing == nil && $0.isUnanswered }
    }
    receive(.pathChanged(restarting: Array(unanswered.keys)))
  }

  /// The machine was suspended: what waits is tried now, what is up is probed.
  public func wake() {
    networkChanged()
  }

  /// Closes every connection; the events end when all are gone and every `onConnected` has
  /// returned. No link can be added any more, and no operation of `run` is run again.
  public func shutDown() {
    isShutDown = true
    endPauses(also: true)
    for id in machine.children { receive(.close(id)) }
    finishIfEmpty()
  }

  /// After `shutDown`, when the last descriptor is closed and no caller uses a connection any more:
  /// nothing is left to happen.
  func finishIfEmpty() {
    guard isShutDown, plans.isEmpty, generations.isEmpty, uses == 0 else { return }
    eventStream.finish()
    presentation.finish()
    clearTimers()
  }

  /// `shutDown` for callers that cannot wait, such as the handler of a signal.
  public nonisolated func requestShutDown() {
    _ = Task(executorPreference: executor) { await self.shutDown() }
  }

  private func wait(for id: ConnectionID) async -> Result<any Connection, AppError> {
    if Task.isCancelled { return .failure(.cancelled) }
    if let live = machine.liveGeneration(of: id),
      let connection = generations[id]?[live]?.connection
    {
      return .success(connection)
    }
    guard machine.state(of: id) != nil else { return .failure(.cancelled) }
    if let error = machine.obstacle(to: id) { return .failure(error) }
    let ticket = ticket()
    let caller = Promise<Result<any Connection, AppError>>()
    waiters[ticket] = Waiter(id: id, caller: caller)
    return await caller.value { [executor] in
      _ = Task(executorPreference: executor) { await self.stopWaiting(ticket) }
    }
  }

  private func stopWaiting(_ ticket: Int) {
    waiters.removeValue(forKey: ticket)?.caller.fulfill(.failure(.cancelled))
  }
}
