import BridgeSSH

/// The answer of a run that shares its connection (PROTOCOL.mux).
package enum ControlReply: Sendable, Equatable {
  /// - Parameter saysEnds: whether the end of each session comes, also one without a status: an
  ///   extension of ours.
  case hello(version: UInt32, saysEnds: Bool)
  case done(UInt32)
  case denied(UInt32, String)
  case failed(UInt32, String)
  /// How session number `session` ended: its exit status.
  case ended(session: UInt32, status: UInt32)
  case alive(UInt32, process: UInt32)
  case opened(UInt32, session: UInt32)
  case port(UInt32, UInt32)
  /// The host gives session number `session` no terminal.
  case withoutTerminal(session: UInt32)

  private enum Number {
    static let hello: UInt32 = 1
    static let done: UInt32 = 0x8000_0001
    static let denied: UInt32 = 0x8000_0002
    static let failed: UInt32 = 0x8000_0003
    static let ended: UInt32 = 0x8000_0004
    static let alive: UInt32 = 0x8000_0005
    static let opened: UInt32 = 0x8000_0006
    static let port: UInt32 = 0x8000_0007
    static let withoutTerminal: UInt32 = 0x8000_0008
  }

  private static let endsExtension = "ends@bridgectl"

  /// The reply in a packet, without its length; nil for what is none.
  package init?(_ packet: [UInt8]) {
    var reader = WireReader(packet)
    guard let type = reader.uint32(), let id = reader.uint32() else { return nil }
    switch type {
    case Number.hello:
      var names: [String] = []
      while let name = reader.text(), reader.string() != nil { names.append(name) }
      self = .hello(version: id, saysEnds: names.contains(Self.endsExtension))
    case Number.done: self = .done(id)
    case Number.withoutTerminal: self = .withoutTerminal(session: id)
    case Number.denied, Number.failed:
      guard let reason = reader.text() else { return nil }
      self = type == Number.denied ? .denied(id, reason) : .failed(id, reason)
    case Number.ended, Number.alive, Number.opened, Number.port:
      guard let value = reader.uint32() else { return nil }
      switch type {
      case Number.ended: self = .ended(session: id, status: value)
      case Number.alive: self = .alive(id, process: value)
      case Number.opened: self = .opened(id, session: value)
      default: self = .port(id, value)
      }
    default: return nil
    }
  }

  /// The packet, with its length before it.
  package var packet: [UInt8] {
    var writer = WireWriter()
    switch self {
    case .hello(let version, let saysEnds):
      writer.uint32s(Number.hello, version)
      if saysEnds {
        writer.string(Self.endsExtension)
        writer.string("")
      }
    case .done(let id): writer.uint32s(Number.done, id)
    case .denied(let id, let reason):
      writer.uint32s(Number.denied, id)
      writer.string(reason)
    case .failed(let id, let reason):
      writer.uint32s(Number.failed, id)
      writer.string(reason)
    case .ended(let session, let status): writer.uint32s(Number.ended, session, status)
    case .alive(let id, let process): writer.uint32s(Number.alive, id, process)
    case .opened(let id, let session): writer.uint32s(Number.opened, id, session)
    case .port(let id, let port): writer.uint32s(Number.port, id, port)
    case .withoutTerminal(let session): writer.uint32s(Number.withoutTerminal, session)
    }
    return writer.packet
  }
}
