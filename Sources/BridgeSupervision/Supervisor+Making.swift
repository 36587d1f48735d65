import BridgeErrors
import BridgeRecovery
import BridgeTransport

// A connection is made before its link asks for a turn to dial: what makes it may wait for a token
// server, and must hold up no other link.
extension Supervisor {
  /// Makes the connection of the next generation of a link.
  func prepare(_ id: ConnectionID) {
    guard let plan = plans[id] else { return }
    discard(id)
    let (ticket, number) = (ticket(), machine.nextGeneration(of: id))
    preparations[id] = Preparation(ticket: ticket)
    preparations[id]?.making = Task(executorPreference: executor) {
      do throws(AppError) {
        await self.prepared(id, ticket, try await self.make(number, plan))
      } catch {
        await self.unprepared(id, ticket, error)
      }
    }
    if let limit = plan.options.makeLimit { set(.making(id), at: now() + limit) }
  }

  /// Lets go of what was made and not dialed.
  func discard(_ id: ConnectionID) {
    guard let preparation = preparations.removeValue(forKey: id) else { return }
    clear(.making(id))
    preparation.making?.cancel()
    guard let connection = preparation.connection else { return }
    _ = Task(executorPreference: executor) { await connection.close() }
  }

  func makingTookTooLong(_ id: ConnectionID) {
    guard let ticket = preparations[id]?.ticket, let limit = plans[id]?.options.makeLimit else {
      return
    }
    preparations[id]?.making?.cancel()
    unprepared(id, ticket, .timeout(seconds: limit.wholeSeconds))
  }

  private func prepared(
    _ id: ConnectionID, _ ticket: Int, _ connection: any Connection
  ) async {
    guard preparations[id]?.ticket == ticket else { return await connection.close() }
    clear(.making(id))
    preparations[id]?.connection = connection
    receive(.prepared(id))
  }

  private func unprepared(_ id: ConnectionID, _ ticket: Int, _ error: AppError) {
    guard preparations[id]?.ticket == ticket else { return }
    preparations[id] = nil
    clear(.making(id))
    receive(.unprepared(id, classified(ConnectionError(error), of: id)))
  }

  private nonisolated func make(
    _ number: Int, _ plan: LinkPlan
  ) async throws(AppError) -> any Connection {
    let making = Task(executorPreference: callbackExecutor) {
      () async -> Result<any Connection, AppError> in
      do throws(AppError) {
        return .success(try await plan.connection(number))
      } catch {
        return .failure(error)
      }
    }
    let made = await withTaskCancellationHandler {
      await making.value
    } onCancel: {
      making.cancel()
    }
    return try made.get()
  }
}
