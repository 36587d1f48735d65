import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeStore
import BridgeTestKit
import BridgeWaiting
import BridgeWebSocket
import Testing

@Suite("An outbox delivers over all connections", .timeLimit(.minutes(1))) struct OutboxTests {
  /// Carries over connections to `peer`, one after the other, until the task is canceled.
  private func carry(
    _ outbox: MessageOutbox, to peer: ScriptedWebSocketPeer,
    receive: @escaping @Sendable (WebSocketMessage) async -> Void = { _ in }
  ) throws -> Task<Void, Never> {
    let url = try WebSocketEndpoint("ws://127.0.0.1:\(peer.port)/")
    return Task {
      while !Task.isCancelled {
        let connection = WebSocketConnection(to: url)
        guard (try? await connection.connect()) != nil else { continue }
        await outbox.carry(over: connection, receive: receive)
        await connection.close()
      }
    }
  }

  /// The texts that came over each connection.
  private func texts(_ peer: ScriptedWebSocketPeer) async -> [Int: [String]] {
    await peer.log.reduce(into: [:]) { texts, event in
      if case .text(let text) = event.kind { texts[event.connection, default: []].append(text) }
    }
  }

  @Test func aMessageHasArrivedWhenAPongCame() async throws {
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(1), .wait(.milliseconds(100)), .reset], answersPings: false),
      WebSocketScript(),
    ])
    let outbox = MessageOutbox()
    let carrying = try carry(outbox, to: peer)
    try await outbox.deliver("hello")
    // The first connection proved nothing.
    #expect(await texts(peer) == [1: ["hello"], 2: ["hello"]])
    #expect(await outbox.undelivered.isEmpty)
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  @Test func whatALostConnectionHadNotProvenComesAgainInOrder() async throws {
    let peer = try await ScriptedWebSocketPeer([
      WebSocketScript([.awaitMessages(3), .reset], answersPings: false), WebSocketScript(),
    ])
    let outbox = MessageOutbox()
    let delivering = Task {
      await withTaskGroup { group in
        for number in 0..<5 {
          group.addTask { try? await outbox.deliver("\(number)") }
          try? await eventually { await outbox.undelivered.count == number + 1 }
        }
      }
    }
    try await eventually { await outbox.undelivered.count == 5 }
    let carrying = try carry(outbox, to: peer)
    await delivering.value
    let texts = await texts(peer)
    #expect(texts[2] == ["0", "1", "2", "3", "4"])
    #expect(texts[1]?.prefix(3) == ["0", "1", "2"])
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  @Test func aPeerThatAcknowledgesIsWaitedForAndItsOtherMessagesAreHandedOver() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let outbox = MessageOutbox(proof: .acknowledgement)
    let received = Mutex<[WebSocketMessage]>([])
    let carrying = try carry(outbox, to: peer) { message in received.withLock { $0.append(message) }
    }
    let delivering = Task { try await outbox.deliver("say \"yes\"", id: "a1") }
    _ = try await peer.first { $0.kind == .text(#"{"id":"a1","text":"say \"yes\""}"#) }
    for text in [#"{"ack":"other"}"#, #"{"user":1}"#, "plain"] {
      await peer.send(RawFrame(Array(text.utf8)))
    }
    try await eventually { received.withLock { $0.count } == 2 }
    #expect(await outbox.undelivered.map(\.id) == ["a1"])
    await peer.send(RawFrame(Array(#"{"ack":"a1"}"#.utf8)))
    try await delivering.value
    #expect(received.withLock { $0 } == [.text(#"{"user":1}"#), .text("plain")])
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  @Test func aFullOutboxTakesNoMore() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let outbox = MessageOutbox(limit: 10)
    let first = Task { try await outbox.deliver("more than ten bytes", id: "1") }
    try await eventually { await outbox.undelivered.count == 1 }
    let second = Task { try await outbox.deliver("next", id: "2") }
    for _ in 0..<20 { await Task.yield() }
    #expect(await outbox.undelivered.map(\.id) == ["1"])
    let carrying = try carry(outbox, to: peer)
    try await first.value
    try await second.value
    #expect(await texts(peer) == [1: ["more than ten bytes", "next"]])
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  /// A store in memory, whose writes can be made to wait or to fail.
  private final class Store: Sendable {
    private let state = Mutex((messages: [OutboxMessage](), failure: AppError?.none, isShut: false))
    private let changes = Changes()

    var ids: [String] { state.withLock { $0.messages.map(\.id) } }
    var messages: [OutboxMessage] { state.withLock { $0.messages } }

    func fail(with error: AppError?) { state.withLock { $0.failure = error } }

    func shut(_ isShut: Bool) {
      state.withLock { $0.isShut = isShut }
      changes.announce()
    }

    func keep(_ kept: [StoreChange]) async throws(AppError) {
      while state.withLock({ $0.isShut }) { try await changes.wait(after: changes.version) }
      let failure = state.withLock { state in
        guard state.failure == nil else { return state.failure }
        for change in kept {
          switch change {
          case .send(let message): state.messages.append(message)
          case .delivered(let id): state.messages.removeAll { $0.id == id }
          default: Issue.record("\(change)")
          }
        }
        return nil
      }
      if let failure { throw failure }
    }
  }

  @Test func aMessageIsKeptBeforeItIsSentAndForgottenWhenItHasArrived() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let store = Store()
    let outbox = MessageOutbox { changes throws(AppError) in try await store.keep(changes) }
    store.shut(true)
    let carrying = try carry(outbox, to: peer)
    let call = Task { try await outbox.deliver("hello", id: "1") }
    try await eventually { await outbox.undelivered.map(\.id) == ["1"] }
    try await eventually { await peer.log.contains { $0.kind == .upgraded } }
    #expect(await texts(peer).isEmpty)
    store.shut(false)
    try await call.value
    #expect(await texts(peer) == [1: ["hello"]])
    try await eventually { store.ids.isEmpty }
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  @Test func whatCannotBeKeptIsNotSentAndHoldsUpNothing() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let store = Store()
    let outbox = MessageOutbox { changes throws(AppError) in try await store.keep(changes) }
    let full = AppError.storeUnusable(store: "state.db", problem: .full)
    store.fail(with: full)
    await #expect(throws: full) { try await outbox.deliver("lost", id: "1") }
    store.fail(with: nil)
    let carrying = try carry(outbox, to: peer)
    try await outbox.deliver("kept", id: "2")
    #expect(await texts(peer) == [1: ["kept"]])
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }

  /// The application is killed, and begins again with what its store has.
  @Test func whatHadNotArrivedGoesFirstAfterARestart() async throws {
    let store = Store()
    let first = MessageOutbox { changes throws(AppError) in try await store.keep(changes) }
    let calls = Task {
      await withTaskGroup { group in
        for number in 1...3 {
          group.addTask { try? await first.deliver("\(number)", id: "\(number)") }
          try? await eventually { store.ids.count == number }
        }
      }
    }
    try await eventually { store.ids == ["1", "2", "3"] }
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let second = MessageOutbox(restoring: store.messages) { changes throws(AppError) in
      try await store.keep(changes)
    }
    let carrying = try carry(second, to: peer)
    try await second.deliver("4", id: "4")
    #expect(await texts(peer) == [1: ["1", "2", "3", "4"]])
    try await eventually { store.ids.isEmpty }
    carrying.cancel()
    await carrying.value
    await first.close()
    await calls.value
    await peer.stop()
  }

  @Test func closingEndsAllCallsAndReturnsWhatHasNotArrived() async throws {
    let outbox = MessageOutbox(limit: 1)
    let calls = (0..<2).map { number in
      Task { () -> AppError? in
        do throws(AppError) {
          try await outbox.deliver("m", id: "\(number)")
          return nil
        } catch {
          return error
        }
      }
    }
    try await eventually { await outbox.undelivered.count == 1 }
    #expect(await outbox.close().count == 1)
    for call in calls { #expect(await call.value == .cancelled) }
  }

  @Test func aCanceledCallReturnsAndItsMessageIsDelivered() async throws {
    let peer = try await ScriptedWebSocketPeer(WebSocketScript())
    let outbox = MessageOutbox()
    let call = Task { try await outbox.deliver("hello") }
    try await eventually { await outbox.undelivered.count == 1 }
    call.cancel()
    await #expect(throws: AppError.cancelled) { try await call.value }
    let carrying = try carry(outbox, to: peer)
    try await eventually { await outbox.undelivered.isEmpty }
    #expect(await texts(peer) == [1: ["hello"]])
    carrying.cancel()
    await carrying.value
    await peer.stop()
  }
}
