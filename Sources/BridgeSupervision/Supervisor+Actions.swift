import BridgeErrors
import BridgeRecovery
import BridgeTransport
import BridgeWaiting

extension Supervisor {
  /// Carries out one decision.
  func perform(_ action: RecoveryAction) {
    switch action {
    case .prepare(let id): prepare(id)
    case .discard(let id): discard(id)
    case .dial(let id, let generation): dial(id, generation)
    case .close(let id, let generation): end(id, generation)
    case .promote(let id, let generation): use(id, generation)
    case .disturb(let id): disturb(id)
    case .setTimer(let timer, let instant): set(.recovery(timer), at: instant)
    case .clearTimer(let timer): clear(.recovery(timer))
    case .giveUp(let id, let error): answerWaiters(of: id, with: .failure(error))
    case .retire(let id): forget(id)
    case .publish(let event): eventStream.publish(event)
    }
  }

  private func dial(_ id: ConnectionID, _ number: Int) {
    guard let plan = plans[id],
      let connection = preparations.removeValue(forKey: id)?.connection
    else { return }
    var generation = Generation(connection: connection)
    generation.connecting = Task(executorPreference: executor) {
      do throws(ConnectionError) {
        try await connection.open()
        await self.connected(id, number)
      } catch {
        await self.fail(id, number, error)
      }
    }
    generation.reading = Task(executorPreference: executor) {
      for await event in connection.events { await self.saw(event, of: id, number) }
    }
    generations[id, default: [:]][number] = generation
    if let limit = plan.options.attemptLimit {
      set(.attempt(id, generation: number), at: now() + limit / RunningTime.parts)
    }
  }

  /// A generation failed: the application may overrule what follows.
  func fail(_ id: ConnectionID, _ number: Int, _ failure: ConnectionError) {
    receive(.failed(id, generation: number, classified(failure, of: id)))
  }

  /// The failure with the class that the application chooses for it.
  func classified(_ failure: ConnectionError, of id: ConnectionID) -> ConnectionError {
    guard failure.error != .cancelled else { return failure }
    var failure = failure
    failure.chosenClass = plans[id]?.options.classify(failure)
    return failure
  }

  private func connected(_ id: ConnectionID, _ number: Int) {
    clear(.attempt(id, generation: number))
    generations[id]?[number]?.isOpen = true
    receive(.connected(id, generation: number))
    if let loss = generations[id]?[number]?.loss { return end(id, number, by: loss) }
    if watches[id]?.generation != number { prove(id, number) }
  }

  /// Requests the round trip that proves a generation whose peer is not evaluated, or not yet.
  func prove(_ id: ConnectionID, _ number: Int) {
    guard let connection = generations[id]?[number]?.connection else { return }
    generations[id]?[number]?.proving?.cancel()
    generations[id]?[number]?.proving = Task(executorPreference: executor) {
      if let heard = await connection.lastHeard {
        await self.receive(.heard(id, generation: number, at: heard))
      }
      do throws(AppError) {
        _ = try await connection.probe(within: RecoveryDefaults.proofLimit)
        await self.receive(.proved(id, generation: number))
      } catch {
        // A link that failed reports it by an event.
      }
    }
  }

  /// A part of the limit of a dial has passed: with the last one, all of it but for the time that a
  /// person took to answer.
  func attemptTookTooLong(_ id: ConnectionID, _ number: Int) {
    if let left = generations[id]?[number]?.limitPartsLeft, left > 0,
      let limit = plans[id]?.options.attemptLimit
    {
      generations[id]?[number]?.limitPartsLeft = left - 1
      return set(.attempt(id, generation: number), at: now() + limit / RunningTime.parts)
    }
    guard let connection = generations[id]?[number]?.connection else {
      return failAttempt(id, number)
    }
    generations[id]?[number]?.limiting = Task(executorPreference: executor) {
      await self.extendAttempt(id, number, asked: connection.timeAsked)
    }
  }

  private func extendAttempt(_ id: ConnectionID, _ number: Int, asked: Duration) {
    guard let generation = generations[id]?[number], !generation.isOpen,
      generation.closing == nil
    else { return }
    let more = asked - generation.timeAsked
    guard more > .zero else { return failAttempt(id, number) }
    generations[id]?[number]?.timeAsked = asked
    set(.attempt(id, generation: number), at: now() + more)
    scheduleTimers()
  }

  /// Fails a dial that did not end within its limit, with the transport's error.
  private func failAttempt(_ id: ConnectionID, _ number: Int) {
    guard let generation = generations[id]?[number], !generation.isOpen,
      generation.closing == nil, let limit = plans[id]?.options.attemptLimit
    else { return }
    let failure = generation.connection.timeout(in: generation.phase, after: limit)
    fail(id, number, failure)
  }

  private func saw(_ event: ConnectionEvent, of id: ConnectionID, _ number: Int) {
    switch event {
    case .entered(let phase):
      generations[id]?[number]?.phase = phase
      receive(.entered(id, generation: number, phase))
    case .connected: break
    case .failed(let failure): lost(id, number, .failed(failure))
    case .closed: lost(id, number, .closedHere)
    }
  }

  /// A failed dial is what `open` throws; an event reports what ends a connection later, once. A
  /// connection that we close does not fail.
  private func lost(_ id: ConnectionID, _ number: Int, _ loss: Generation.Loss) {
    guard let generation = generations[id]?[number], generation.loss == nil,
      generation.closing == nil
    else { return }
    generations[id]?[number]?.loss = loss
    if generation.isOpen { end(id, number, by: loss) }
  }

  private func end(_ id: ConnectionID, _ number: Int, by loss: Generation.Loss) {
    switch loss {
    case .failed(let failure): fail(id, number, failure)
    case .closedHere:
      guard machine.liveGeneration(of: id) == number else {
        return fail(id, number, ConnectionError(Self.closedHere))
      }
      receive(.restart(id, generation: number, ConnectionError(Self.closedHere), isAsked: false))
    }
  }

  private static var closedHere: AppError {
    .unknown(message: "This program closed the connection; a new one takes its place.")
  }

  /// Ends the connection in use; a new one takes its place.
  func restart(_ id: ConnectionID, reason: AppError?) {
    guard let live = machine.liveGeneration(of: id) else { return }
    let reason = ConnectionError(reason ?? Self.closedHere)
    receive(.restart(id, generation: live, reason, isAsked: true))
  }

  private func end(_ id: ConnectionID, _ number: Int) {
    if watches[id]?.generation == number { stopWatching(id) }
    clear(.attempt(id, generation: number))
    guard let generation = generations[id]?[number] else { return }
    generation.connecting?.cancel()
    generation.proving?.cancel()
    generation.limiting?.cancel()
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
    handOver(Use(generation: number, connection: connection, plan: plan), of: id)
    watch(id, number, plan)
  }

  private func forget(_ id: ConnectionID) {
    plans[id] = nil
    answerWaiters(of: id, with: .failure(.cancelled))
    for caller in closers.removeValue(forKey: id) ?? [] { caller.fulfill() }
    finishIfEmpty()
  }

  func answerWaiters(of id: ConnectionID, with result: Result<any Connection, AppError>) {
    for ticket in waiters.keys.sorted() where waiters[ticket]?.id == id {
      waiters.removeValue(forKey: ticket)?.caller.fulfill(result)
    }
  }
}
