extension ClientSession {
  /// The next frame to send, at most `limit` bytes of input in it; nil when there is none now.
  public mutating func nextFrame(limit: Int = 32 << 10, at now: Milliseconds) -> Frame? {
    switch phase {
    case .greeting:
      guard helloIsDue else { return pongs.isEmpty ? nil : .pong(pongs.removeFirst()) }
      helloIsDue = false
      (sentAcknowledgement, sentCommit) = (consumed, committed)
      return .hello(hello)
    case .attached: break
    case .detached, .refused, .left: return nil
    }
    if !pongs.isEmpty { return .pong(pongs.removeFirst()) }
    if !pings.isEmpty { return .ping(pings.removeFirst()) }
    if let due = acknowledgementDeadline, due <= now { return acknowledgement() }
    guard role == .writer else { return nextViewerControl() }
    return nextControl() ?? nextInput(limit)
  }

  /// When the next acknowledgement is due; nil while the host has all of them.
  public var acknowledgementDeadline: Milliseconds? {
    guard phase == .attached else { return nil }
    if acknowledgesNow { return 0 }
    guard let since = acknowledgementSince else { return nil }
    let much = max(configuration.outputWindow / 16, Limits.acknowledgeBytes)
    let isMuch = consumed - sentAcknowledgement >= min(much, configuration.outputWindow)
    return isMuch || ending != nil ? since : since + Limits.acknowledgeAge
  }

  /// Records that the reader has taken all output below `offset`.
  public mutating func consume(through offset: UInt64, at now: Milliseconds) {
    guard offset > consumed, offset <= received else { return }
    // Only a gap is longer than the window, and the host waits for it to be acknowledged.
    if offset - consumed > outputWindow { acknowledgesNow = true }
    consumed = offset
    omitted.drop(below: offset)
    if acknowledgementSince == nil { acknowledgementSince = now }
  }

  /// Records that the application has committed all output below `offset`.
  public mutating func commit(through offset: UInt64, at now: Milliseconds) {
    guard offset > committed, offset <= received else { return }
    consume(through: offset, at: now)
    committed = offset
    if acknowledgementSince == nil { acknowledgementSince = now }
  }

  /// Adds input; returns the offset after it.
  ///
  /// - Parameter offset: where it begins; nil for the end of what was written. What lies below
  ///   the end was written before and is not written again.
  /// - Throws: why nothing of it was taken.
  public mutating func write(
    _ bytes: ArraySlice<UInt8>, at offset: UInt64? = nil
  ) throws(WriteError) -> UInt64 {
    try requireWriter()
    let start = offset ?? input.end
    guard start <= input.end else {
      // Of a program that takes no more it is not known how far its input came.
      throw inputHasEnded ? .ended : .hole(expected: input.end)
    }
    let fresh = bytes.dropFirst(Int(min(input.end - start, UInt64(bytes.count))))
    guard !fresh.isEmpty else { return input.end }
    guard !inputHasEnded else { throw .ended }
    let space = configuration.inputLimit - input.count
    guard fresh.count <= space else { throw .full(space: max(space, 0)) }
    input.append(fresh)
    return input.end
  }

  /// Adds input; returns the offset after it.
  ///
  /// - Throws: why nothing of it was taken.
  public mutating func write(
    _ bytes: [UInt8], at offset: UInt64? = nil
  ) throws(WriteError) -> UInt64 { try write(bytes[...], at: offset) }

  /// Adds a control; returns its number.
  ///
  /// - Throws: why it was not taken.
  public mutating func perform(_ control: Control) throws(WriteError) -> UInt64 {
    try requireWriter()
    guard controls.count < Limits.controls else { throw .full(space: 0) }
    switch control {
    case .resize(let size): self.size = size
    case .endInput: inputHasEnded = true
    case .signal, .detach, .close: break
    }
    lastControl += 1
    controls.append(PendingControl(number: lastControl, control: control))
    return lastControl
  }

  /// Ends input after what was written; false where it was ended before.
  public mutating func endInput() throws(WriteError) -> Bool {
    guard !inputHasEnded else { return false }
    _ = try perform(.endInput(at: input.end))
    return true
  }

  /// Detaches from the session; the program goes on. With `closes`, a session whose end this client
  /// has committed is removed. The last frame: the host closes the channel after it.
  public mutating func detach(closes: Bool) throws(WriteError) {
    guard phase == .attached else { throw .notAttached }
    let control = closes ? Control.close : .detach
    guard role == .writer else {
      if controls.isEmpty { controls = [PendingControl(number: 0, control: control)] }
      return
    }
    if closes, ending != nil { acknowledgesNow = true }
    _ = try perform(control)
  }

  /// Requests a pong from the host.
  public mutating func ping(_ value: UInt64) {
    if phase == .attached, pings.count < Self.pingLimit { pings.append(value) }
  }

  private static let pingLimit = 16

  /// A `close` that was sent and not acknowledged is sent again as it is.
  mutating func requestClose() {
    guard !controls.contains(where: { $0.control == .close }) else { return }
    _ = try? perform(.close)
  }

  private func requireWriter() throws(WriteError) {
    guard let role else { throw .notAttached }
    guard role == .writer else { throw .notWriter }
  }

  private mutating func acknowledgement() -> Frame {
    acknowledgesNow = false
    acknowledgementSince = nil
    (sentAcknowledgement, sentCommit) = (consumed, committed)
    return .acknowledge(through: consumed, settled: committed)
  }

  private mutating func nextControl() -> Frame? {
    guard let next = controls.first(where: { $0.number > controlCursor }) else { return nil }
    switch next.control {
    case .detach, .close:
      // What was written before must be sent before, and a `close` counts only behind the end.
      guard inputCursor == input.end else { return nil }
      if next.control == .close, ending != nil, !endWasReceived { return nil }
      phase = .left
    case .resize, .signal, .endInput: break
    }
    controlCursor = next.number
    return .control(number: next.number, next.control)
  }

  /// A viewer's only controls: the host does not count them.
  private mutating func nextViewerControl() -> Frame? {
    guard let next = controls.first else { return nil }
    phase = .left
    return .control(number: 0, next.control)
  }

  private mutating func nextInput(_ limit: Int) -> Frame? {
    let window = inputTaken + Limits.window
    guard inputCursor < input.end, inputCursor < window else { return nil }
    let count = min(limit, Int(min(window - inputCursor, UInt64(Limits.payload))))
    let bytes = input.bytes(from: inputCursor, limit: count)
    let offset = inputCursor
    inputCursor += UInt64(bytes.count)
    return .input(offset: offset, bytes: bytes)
  }
}
