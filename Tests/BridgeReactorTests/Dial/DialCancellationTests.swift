import BridgeErrors
import BridgeReactor
import BridgeTestKit
import BridgeTransport
import Testing

/// How a dial ended: nil when it connected.
func failure(of dial: Task<Socket, any Error>) async -> DialFailure? {
  do {
    // Not left to the last owner: the runtime may let go of a task's result after we have it.
    try await dial.value.close()
    return nil
  } catch {
    return error as? DialFailure
  }
}

@Suite(.timeLimit(.minutes(5))) struct DialCancellationTests {
  @Test func aTaskThatIsCancelledAlreadyResolvesNothing() async throws {
    await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let route = Route(Endpoint(host: "name.example", port: 1), on: reactor, resolver: resolver)
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await route.dial()
      }
      task.cancel()
      #expect(await failure(of: task) == DialFailure(phase: .resolve, cause: .cancelled))
      #expect(names.asked.isEmpty)
      #expect(resolver.load == (0, 0))
    }
  }

  @Test func cancellingDuringTheLookupEndsIt() async throws {
    try await withReactor { reactor in
      let names = ScriptedLookup()
      let resolver = Resolver(lookup: names.lookup)
      let route = Route(Endpoint(host: "name.example", port: 1), on: reactor, resolver: resolver)
      let task = Task { try await route.dial() }
      try await eventually { resolver.load.waiters == 1 }
      task.cancel()
      #expect(await failure(of: task) == DialFailure(phase: .resolve, cause: .cancelled))
      #expect(resolver.load == (1, 0))
      names.asked.first?.answer(.success([.loopback]))
      #expect(resolver.load == (0, 0))
    }
  }
}
