import NIOCore

/// The way through: bytes, ends and losses. No channel is called while a relay is being changed,
/// because a close calls back at once.
extension FaultProxy {
  /// Writes in one go, before other work of the loop gets its turn.
  private static let burst = 1_024

  func received(_ bytes: ByteBuffer, of id: Int, _ direction: Direction) {
    relays[id]?[direction].take(bytes, at: now)
    pump(id, direction)
  }

  /// The source sent its FIN.
  func sourceFinished(of id: Int, _ direction: Direction) {
    relays[id]?[direction].takeEnd(at: now)
    forgetIgnored(id)
    pump(id, direction)
  }

  /// Releases a client that was ignored and has given up, once no client is to be ignored any more.
  func forgetIgnored(_ id: Int) {
    guard let relay = relays[id], relay.isIgnored, relay.toServer.hasEnd else { return }
    if admission != .ignore { conclude(id) }
  }

  /// The source's socket is closed. After our own FIN the other side's one closes it whole, and
  /// NIO reports no more than that.
  func sourceClosed(of id: Int, _ direction: Direction, byError: Bool) {
    guard let relay = relays[id] else { return }
    if !byError, relay.finished.contains(direction.opposite) {
      sourceFinished(of: id, direction)
    } else {
      sourceLost(of: id, direction)
    }
  }

  /// The source is gone without one. A frozen link does not tell the other side.
  func sourceLost(of id: Int, _ direction: Direction) {
    guard let relay = relays[id] else { return }
    relays[id]?.lost = direction
    guard !relay.isFrozen else { return }
    report(.lost(direction), id)
    conclude(id, abruptly: true)
  }

  /// Reads on if there is space for it.
  func readMore(of id: Int, _ direction: Direction) {
    guard let relay = relays[id], let source = relay.source(of: direction) else { return }
    guard relay[direction].hasSpace, let target = relay.target(of: direction) else { return }
    if target.isWritable || relay[direction].isFinished { source.read() }
  }

  /// Does what is due in this direction.
  func pump(_ id: Int, _ direction: Direction) {
    guard let target = relays[id]?.target(of: direction) else { return }
    let time = now
    for _ in 0..<Self.burst {
      guard let decision = relays[id]?[direction].next(at: time) else { return }
      switch decision {
      case .write(let portion): write(portion, to: target, of: id, direction)
      case .wake(let due): return wake(id, direction, at: due)
      case .finish: return finish(target, of: id, direction)
      case .idle: return
      }
    }
    wake(id, direction, at: time)
  }

  /// Ends a relay: an orderly close, or a RST to both sides.
  func conclude(_ id: Int, abruptly: Bool = false) {
    guard let relay = relays.removeValue(forKey: id) else { return }
    held.removeAll { $0 == id }
    report(.closed(toServer: relay.toServer.passed, toClient: relay.toClient.passed), id)
    for channel in [relay.client, relay.server].compactMap(\.self) {
      if abruptly { channel.closeWithReset() } else { channel.close(promise: nil) }
    }
  }

  private func write(
    _ portion: Portion, to target: any Channel, of id: Int, _ direction: Direction
  ) {
    if let text = portion.alteration { report(.altered(direction, text), id) }
    guard let ending = portion.ending else {
      return target.writeAndFlush(portion.bytes, promise: nil)
    }
    switch ending {
    case .finish:
      target.write(portion.bytes, promise: nil)
      finish(target, of: id, direction)
    case .reset:
      // Reset only when the kernel has the bytes: a RST drops what is still in our own buffers.
      target.writeAndFlush(portion.bytes).whenComplete { _ in
        self.assumeIsolated { $0.reset(id) }
      }
    }
  }

  private func finish(_ target: any Channel, of id: Int, _ direction: Direction) {
    // An empty write is done when all before it is.
    target.writeAndFlush(ByteBuffer()).whenComplete { _ in
      self.assumeIsolated { $0.finished(id, direction) }
    }
  }

  private func finished(_ id: Int, _ direction: Direction) {
    guard let target = relays[id]?.target(of: direction) else { return }
    relays[id]?.finished.insert(direction)
    report(.finished(direction), id)
    if relays[id]?.finished == .both {
      conclude(id)
    } else {
      target.close(mode: .output, promise: nil)
      readMore(of: id, direction)
    }
  }

  private func wake(_ id: Int, _ direction: Direction, at due: Duration) {
    guard relays[id]?.wakes.insert(direction).inserted == true else { return }
    loop.scheduleTask(deadline: deadline(due)) {
      self.assumeIsolated { proxy in
        proxy.relays[id]?.wakes.remove(direction)
        proxy.pump(id, direction)
        proxy.readMore(of: id, direction)
      }
    }
  }
}
