import BridgeErrors
import BridgeRecovery
import BridgeTransport

extension Supervisor {
  /// Carries out one decision.
  func perform(_ action: RecoveryAction) {
    switch action {
    case .dial(let id, let generation): dial(id, generation)
    case .close(let id, let generation): end(id, generation)
    case .promote(let id, let generation): use(id, generation)
    case .disturb(let id): disturb(id)
    case .setTimer(let timer, let instant): set(.recovery(timer), at: instant)
    case .clearTimer(let timer): clear(.recovery(timer))
    case .giveUp(let id, let error): answerWaiters(of: id, with: .failure(error))
    case .retire(let id): forget(id)
    case .publish(let event): feed.publish(event)
    }
  }

  private func dial(_ id: ConnectionID, _ number: Int) {
    guard let plan = plans[id] else { return }
    let connection = plan.make(number)
    var generation = Generation(connection: connection)
    generation.reading = Task(executorPreference: executor) {
      for await event in connection.events { await self.saw(event, of: id, number) }
    }
    generation.connecting = Task(executorPreference: executor) {
      do throws(AppError) {
        try await connection.connect()
        await self.connected(id, number)
      } catch {
        await self.receive(
          .failed(id, generation: number, error, await connection.lastFailure))
      }
    }
    generations[id, default: [:]][number] = generation
  }

  private func connected(_ id: ConnectionID, _ number: Int) {
    receive(.connected(id, generation: number))
    if watches[id]?.generation != number { prove(id, number) }
  }

  /// Asks for the round trip that proves a generation whose peer is not judged, or not yet.
  private func prove(_ id: ConnectionID, _ number: Int) {
    guard let connection = generations[id]?[number]?.connection else { return }
    generations[id]?[number]?.proving = Task(executorPreference: executor) {
      do throws(AppError) {
        _ = try await connection.probe(within: RecoveryDefaults.proofLimit)
        await self.receive(.proved(id, generation: number))
      } catch {
        // A link that failed says so by itself.
      }
    }
  }

  private func saw(_ event: ConnectionEvent, of id: ConnectionID, _ number: Int) {
    switch event {
    case .entered(let phase): receive(.entered(id, generation: number, phase))
    case .failed(let error, let context):
      receive(.failed(id, generation: number, error, context))
    case .connected:
      break
    case .closed:
      // Closed by somebody else; after a close of ours this generation is not in use any more.
      receive(.failed(id, generation: number, .cancelled, nil))
    }
  }

  private func end(_ id: ConnectionID, _ number: Int) {
    if watches[id]?.generation == number { stopWatching(id) }
    guard let generation = generations[id]?[number] else { return }
    generation.connecting?.cancel()
    generation.proving?.cancel()
    generation.using?.cancel()
    let closing = Task(executorPreference: executor) {
      await generation.connection.close()
      await self.gone(id, number)
    }
    generations[id]?[number]?.closing = closing
  }

  private func gone(_ id: ConnectionID, _ number: Int) {
    generations[id]?[number]?.reading?.cancel()
    generations[id]?[number] = nil
    if generations[id]?.isEmpty == true { generations[id] = nil }
    receive(.tornDown(id, generation: number))
    finishIfEmpty()
  }

  private func use(_ id: ConnectionID, _ number: Int) {
    guard let plan = plans[id], let connection = generations[id]?[number]?.connection else {
      return
    }
    answerWaiters(of: id, with: .success(connection))
    uses += 1
    generations[id]?[number]?.using = Task(executorPreference: callbackExecutor) {
      await plan.onConnected(connection, number)
      await self.useEnded()
    }
    watch(id, number, plan)
  }

  private func useEnded() {
    uses -= 1
    finishIfEmpty()
  }

  private func forget(_ id: ConnectionID) {
    plans[id] = nil
    answerWaiters(of: id, with: .failure(.cancelled))
    finishIfEmpty()
  }

  func answerWaiters(of id: ConnectionID, with result: Result<any Connection, AppError>) {
    for ticket in waiters.keys.sorted() where waiters[ticket]?.id == id {
      waiters.removeValue(forKey: ticket)?.continuation.resume(returning: result)
    }
  }
}
