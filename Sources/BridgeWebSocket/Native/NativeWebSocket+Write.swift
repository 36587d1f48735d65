import BridgeReactor
import CLibWebSockets

/// Writes pings, messages and the close frame.
extension NativeWebSocket {
  /// Writes what waits at the end of the turn: what one turn sends travels together, and a turn to
  /// write, which costs four changes of the epoll set, is not asked for.
  func flush() {
    guard !isFlushDue else { return }
    isFlushDue = true
    pace.begin()
    reactor.atEndOfTurn { [self] in endTurn() }
  }

  private func endTurn() {
    guard pace.goesOn(after: received, isFull: sendQueue.count >= Self.burst) else {
      isFlushDue = false
      received = 0
      return writeNow()
    }
    received = 0
    reactor.atEndOfTurn { [self] in endTurn() }
  }

  /// In bytes: a longer message is worth a packet of its own.
  static let small = 1 << 10

  /// What the socket does not take at once the library keeps, and sends when it can.
  private func writeNow() {
    guard facts.stage == .established, facts.close == nil, isAlive else { return }
    if !write() { kill() }
  }

  /// Writes what waits, a bounded number of frames; false when the connection must end.
  func write() -> Bool {
    guard let connection = unsafe connection else { return false }
    if closing == .sent { return true }
    while !pings.isEmpty, unsafe lws_partial_buffered(connection) == 0 {
      let id = pings.removeFirst()
      report?(.pinged(id))
      let payload = ProbeTable.payload(id)
      guard unsafe send(payload, LWS_WRITE_PING, on: connection) else { return false }
    }
    let cork = unsafe Cork(sendQueue.count > 3 ? lws_get_socket_fd(connection) : -1)
    defer { cork.draw() }
    var frames = 0
    while frames < Self.burst, unsafe lws_partial_buffered(connection) == 0 {
      guard let entry = sendQueue.take() else { return unsafe sendClose(on: connection) }
      if case .ping(let id) = entry.kind { report?(.pinged(id)) }
      isInMessage = entry.isMessage
      guard unsafe writeFrame(entry.bytes, Self.frame(entry.kind), on: connection) else {
        return false
      }
      frames += 1
    }
    goOnWriting()
    return true
  }

  /// There is more to write: when the socket takes what the library keeps, or in the next turn.
  private func goOnWriting() {
    guard let connection = unsafe connection else { return }
    if unsafe lws_partial_buffered(connection) != 0 {
      _ = unsafe lws_callback_on_writable(connection)
    } else {
      reactor.execute { [self] in flush() }
    }
  }

  private static func frame(_ kind: SendQueue.Entry.Kind) -> lws_write_protocol {
    switch kind {
    case .text: LWS_WRITE_TEXT
    case .binary: LWS_WRITE_BINARY
    case .ping: LWS_WRITE_PING
    }
  }

  /// Frames a turn, so that others have theirs.
  private static let burst = 64

  /// Everything is written: time for the close frame, if that was asked for. It is written by us:
  /// with libuv the packaged library drops a connection before its own close frame is out.
  private func sendClose(on connection: OpaquePointer) -> Bool {
    guard case .requested(let payload) = closing else { return true }
    closing = .sent
    return unsafe send(payload, Self.closeFrame, on: connection)
  }

  /// `LWS_WRITE_CLOSE`, which the header leaves out between its neighbors.
  static let closeFrame = lws_write_protocol(rawValue: 4)

  func send(
    _ payload: [UInt8], _ kind: lws_write_protocol, on connection: OpaquePointer
  ) -> Bool {
    unsafe writeFrame(
      [UInt8](repeating: 0, count: LibWebSockets.padding) + payload, kind, on: connection)
  }

  /// The library masks in place, in the padding before the payload too.
  private func writeFrame(
    _ bytes: consuming [UInt8], _ kind: lws_write_protocol, on connection: OpaquePointer
  ) -> Bool {
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      let padding = LibWebSockets.padding
      guard let start = buffer.baseAddress else { return false }
      let length = buffer.count - padding
      if !isCounted { written += UInt64(length) }
      return unsafe lws_write(connection, start.advanced(by: padding), length, kind) >= 0
    }
  }
}
