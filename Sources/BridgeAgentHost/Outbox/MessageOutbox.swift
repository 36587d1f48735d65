public import BridgeErrors
public import BridgeStore
public import BridgeWebSocket
import BridgeSessionProtocol
import BridgeWaiting
import FoundationEssentials

/// Delivers messages to a peer at least once and in order, over all the connections to it.
///
///     try await supervisor.add("chat", to: url.endpoint, .losesNothing, onConnected: { socket in
///       await outbox.carry(over: socket) { message in show(message) }
///     }, make: { _ in WebSocketConnection(to: url) })
///     try await outbox.deliver("hello")
///
/// There is no deadline: a message waits for as long as it takes until a link is there again, and
/// the supervisor of the link says what is wrong meanwhile. Bounded: beyond `limit` bytes `deliver`
/// waits for space before it takes a message.
///
/// With a store it outlives its application: a message is on disk before it is sent, and what has
/// not arrived goes first after a restart, under the same id.
///
///     let outbox = MessageOutbox(restoring: agent.state.outbox) { changes throws(AppError) in
///       try await agent.write(changes)
///     }
public actor MessageOutbox {
  /// Keeps changes, all of them or none; returns when they are on disk.
  public typealias Keep = @Sendable ([StoreChange]) async throws(AppError) -> Void

  private nonisolated let proof: OutboxProof
  private nonisolated let limit: Int
  private nonisolated let keep: Keep?
  private var queue = OutboxQueue()
  /// The ids of what is kept, by number.
  private var kept: [Int: String] = [:]
  /// The ids of what has arrived and is still kept.
  private var arrived: [String] = []
  private var isClosed = false
  /// Counts the connections.
  private var connections = 0
  /// Callers that wait until a message has arrived, by its number.
  private var arrivals: [Int: [Promise<Void>]] = [:]
  /// The sender, the prover, and callers that wait for space.
  private let changes = Changes()

  /// An empty outbox.
  ///
  /// - Parameters:
  ///   - proof: what proves that a message has arrived.
  ///   - limit: how much may wait for its delivery, in bytes; one message may be longer.
  ///   - messages: what had not arrived when the application ended: these go first.
  ///   - keep: keeps what is taken and forgets what has arrived; nil for an outbox in memory. Lines
  ///     are not kept: their session has them until they are committed.
  public init(
    proof: OutboxProof = .pong, limit: Int = 1 << 20, restoring messages: [OutboxMessage] = [],
    keep: Keep? = nil
  ) {
    (self.proof, self.limit, self.keep) = (proof, limit, keep)
    for message in messages { kept[queue.append(message)] = message.id }
  }

  // MARK: Messages

  /// Delivers a message behind all that were given before; returns once it has arrived.
  ///
  /// A canceled call returns early; what the outbox, or its store, has taken by then is delivered
  /// all the same, or after a restart.
  /// - Parameter id: its name, by which the peer recognizes one that comes again; a random one
  ///   unless the application has a better one, which is the same after its restart.
  /// - Throws: `cancelled`, also when the outbox is closed; what the store throws that could not
  ///   keep it: it is not sent then.
  public func deliver(_ text: String, id: String? = nil) async throws(AppError) {
    let message = OutboxMessage(id: id ?? "\(Identifier.random())", text: text)
    let number = try await take(message, isHeld: keep != nil)
    if let keep {
      do throws(AppError) {
        try await keep([.send(message)])
      } catch {
        queue.drop(number)
        changes.announce()
        throw error
      }
      kept[number] = message.id
      queue.release(number)
      changes.announce()
    }
    try await untilDelivered(number)
  }

  /// Waits for space, and takes a message; returns its number.
  ///
  /// - Parameter isHeld: whether it is not sent before it is kept.
  func take(_ message: OutboxMessage, isHeld: Bool = false) async throws(AppError) -> Int {
    while !isClosed {
      guard queue.size >= limit else {
        let number = queue.append(message, isHeld: isHeld)
        changes.announce()
        return number
      }
      try await changes.wait(after: changes.version)
    }
    throw .cancelled
  }

  func isDelivered(_ number: Int) -> Bool { queue.isDelivered(number) }

  func untilDelivered(_ number: Int) async throws(AppError) {
    guard !queue.isDelivered(number) else { return }
    guard !isClosed else { throw .cancelled }
    let arrival = Promise<Void>()
    arrivals[number, default: []].append(arrival)
    await arrival.value { arrival.fulfill(()) }
    guard queue.isDelivered(number) else { throw .cancelled }
  }

  /// Messages have arrived. Their callers do not wait until the store has forgotten them: one that
  /// comes again after a restart has its id.
  private func settle(_ numbers: [Int]) {
    arrived += numbers.compactMap { kept.removeValue(forKey: $0) }
    answer(numbers)
  }

  /// Forgets in the store what has arrived, until canceled.
  private func forgetAll() async {
    while !Task.isCancelled {
      let version = changes.version
      await forget()
      try? await changes.wait(after: version)
    }
  }

  /// Many at once; what could not be forgotten is tried again with the next.
  private func forget() async {
    let ids = arrived
    guard let keep, !ids.isEmpty else { return }
    arrived = []
    do throws(AppError) {
      try await keep(ids.map { .delivered(id: $0) })
    } catch {
      arrived = ids + arrived
    }
  }

  /// Resumes the callers of messages that have arrived, and those that wait for space.
  private func answer(_ numbers: some Sequence<Int>) {
    for number in numbers {
      for arrival in arrivals.removeValue(forKey: number) ?? [] { arrival.fulfill(()) }
    }
    changes.announce()
  }

  /// The messages that are not known to have arrived, in order.
  public var undelivered: [OutboxMessage] { queue.undelivered }

  /// Waits until all that was taken has arrived, also what is taken meanwhile.
  ///
  /// - Throws: `cancelled`, also when the outbox is closed before.
  public func flush() async throws(AppError) {
    while !queue.undelivered.isEmpty {
      guard !isClosed else { throw .cancelled }
      try await changes.wait(after: changes.version)
    }
  }

  /// Takes no more messages and ends all calls; returns the messages that are not known to have
  /// arrived, for the next run of the application.
  @discardableResult
  public func close() async -> [OutboxMessage] {
    isClosed = true
    connections += 1
    answer(arrivals.keys.sorted())
    await forget()
    return queue.undelivered
  }

  // MARK: Connections

  /// Delivers over `connection` until that ends, or the calling task is canceled; the newest
  /// connection counts.
  ///
  /// - Parameter receive: what the peer sends, but for acknowledgements, in order.
  public func carry(
    over connection: WebSocketConnection,
    receive: @escaping @Sendable (WebSocketMessage) async -> Void = { _ in }
  ) async {
    guard !isClosed else { return }
    connections += 1
    let number = connections
    queue.restart()
    changes.announce()
    await withTaskGroup { group in
      group.addTask { await self.receiveAll(of: connection, receive) }
      group.addTask { await self.sendAll(over: connection, number) }
      if case .pong = proof { group.addTask { await self.proveAll(over: connection, number) } }
      if keep != nil { group.addTask { await self.forgetAll() } }
      await group.next()
      group.cancelAll()
    }
  }

  private func receiveAll(
    of connection: WebSocketConnection, _ receive: @Sendable (WebSocketMessage) async -> Void
  ) async {
    do throws(AppError) {
      for try await message in connection.messages where !acknowledges(message) {
        await receive(message)
      }
    } catch {
      // The supervisor has the failure, and brings the next connection.
    }
  }

  private func acknowledges(_ message: WebSocketMessage) -> Bool {
    guard case .acknowledgement = proof, let id = Acknowledgement(message)?.ack else {
      return false
    }
    if let number = queue.acknowledge(id) { settle([number]) }
    return true
  }

  private func sendAll(over connection: WebSocketConnection, _ number: Int) async {
    do throws(AppError) {
      while number == connections {
        guard let (place, message) = queue.begin() else {
          try await changes.wait(after: changes.version)
          continue
        }
        try await connection.send(text: text(of: message))
        guard number == connections else { return }
        queue.recordSent(place)
        changes.announce()
      }
    } catch {
      // Likewise.
    }
  }

  private func proveAll(over connection: WebSocketConnection, _ number: Int) async {
    do throws(AppError) {
      while number == connections {
        guard let end = queue.unproven else {
          try await changes.wait(after: changes.version)
          continue
        }
        try await connection.confirmDelivery()
        guard number == connections else { return }
        settle(queue.prove(below: end))
      }
    } catch {
      // Likewise.
    }
  }

  private func text(of message: OutboxMessage) -> String {
    guard case .acknowledgement = proof else { return message.text }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(message) else { return message.text }
    return String(decoding: data, as: UTF8.self)
  }

  private struct Acknowledgement: Decodable {
    var ack: String

    init?(_ message: WebSocketMessage) {
      guard case .text(let text) = message,
        let read = try? JSONDecoder().decode(Self.self, from: Data(text.utf8))
      else { return nil }
      self = read
    }
  }
}
