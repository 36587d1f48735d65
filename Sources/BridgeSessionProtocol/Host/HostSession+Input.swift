extension HostSession {
  /// Records input that was written to the program.
  public mutating func inputWritten(_ count: Int, at now: Milliseconds) -> [Effect] {
    inputTaken = min(inputTaken + UInt64(count), inputAccepted)
    owe(at: now)
    return inputTaken == inputEnd ? [.closeInput] : []
  }

  /// Records that the program closed its standard input: what was not written never will be.
  public mutating func inputClosed(at now: Milliseconds) -> [Effect] {
    guard !inputIsClosed else { return [] }
    inputIsClosed = true
    inputAccepted = inputTaken
    guard let writer else { return [] }
    let text = "The program has closed its standard input."
    return acknowledgements(at: now) + [.send(writer, .notice(Notice(.inputClosed, text)))]
  }

  /// The acknowledgement that is due to the writer.
  public mutating func acknowledgements(at now: Milliseconds) -> [Effect] {
    guard let writer, let due = acknowledgementDeadline, due <= now else { return [] }
    (acknowledgedInput, acknowledgedControl) = (inputTaken, lastControl)
    acknowledgementSince = nil
    return [.send(writer, .acknowledge(through: inputTaken, settled: lastControl))]
  }

  /// When the next acknowledgement is due; nil while the writer has all of them.
  public var acknowledgementDeadline: Milliseconds? {
    guard writer != nil, let since = acknowledgementSince else { return nil }
    let isMuch = inputTaken - acknowledgedInput >= Limits.acknowledgeBytes
    return isMuch || ending != nil || inputIsClosed ? since : since + Limits.acknowledgeAge
  }

  private mutating func owe(at now: Milliseconds) {
    guard inputTaken > acknowledgedInput || lastControl > acknowledgedControl else { return }
    if acknowledgementSince == nil { acknowledgementSince = now }
  }

  mutating func acceptInput(
    _ bytes: [UInt8], at offset: UInt64
  ) throws(ProtocolError) -> [Effect] {
    guard ending == nil, !inputIsClosed else { return [] }
    let end = offset + UInt64(bytes.count)
    if let inputEnd, end > inputEnd { throw .hole(expected: inputEnd, found: end) }
    guard offset <= inputAccepted else { throw .hole(expected: inputAccepted, found: offset) }
    guard end > inputAccepted else { return [] }
    guard end - inputTaken <= Limits.window else { throw .windowExceeded(limit: Limits.window) }
    let overlap = Int(inputAccepted - offset)
    inputAccepted = end
    return [.writeInput(overlap == 0 ? bytes : Array(bytes[overlap...]))]
  }

  mutating func perform(
    _ control: Control, number: UInt64, by id: AttachmentID, at now: Milliseconds
  ) throws(ProtocolError) -> [Effect] {
    guard writer == id else { return try performForViewer(control, by: id) }
    guard number > 0, number <= lastControl + 1 else {
      throw .hole(expected: lastControl + 1, found: number)
    }
    guard number > lastControl else { return [] }
    let effects = try effects(of: control, by: id)
    lastControl = number
    owe(at: now)
    return effects
  }

  /// A viewer may leave; its controls are not counted.
  private mutating func performForViewer(
    _ control: Control, by id: AttachmentID
  ) throws(ProtocolError) -> [Effect] {
    switch control {
    case .detach, .close:
      disconnect(id)
      return [.end(id, .detached)]
    case .resize, .signal, .endInput: throw .notWriter
    }
  }

  private mutating func effects(
    of control: Control, by id: AttachmentID
  ) throws(ProtocolError) -> [Effect] {
    switch control {
    case .resize(let size): return resize(to: size)
    case .signal(let signal): return ending == nil ? [.signal(signal)] : []
    case .endInput(let offset):
      guard offset >= inputAccepted, inputEnd ?? offset == offset else {
        throw .hole(expected: inputEnd ?? inputAccepted, found: offset)
      }
      inputEnd = offset
      return inputTaken == offset ? [.closeInput] : []
    case .detach:
      disconnect(id)
      return [.end(id, .detached)]
    case .close:
      let sawEnd = attachments[id]?.endWasSent == true && committed == newest
      disconnect(id)
      return sawEnd ? [.end(id, .closed), .discard] : [.end(id, .detached)]
    }
  }
}
