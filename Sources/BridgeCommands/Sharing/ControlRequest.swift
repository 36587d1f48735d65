import BridgeErrors
package import BridgeSSH
import BridgeTransport

/// What a run asks of one that shares its connection: version 4 of the protocol of OpenSSH's
/// multiplexing (PROTOCOL.mux), so that either side may be OpenSSH's.
package enum ControlRequest: Sendable, Equatable {
  /// A shell, a command or a subsystem. Three descriptors follow: input, output and errors.
  package struct Session: Sendable, Equatable {
    /// What is started.
    package var program: RemoteProgram
    /// Its terminal's type; nil for none.
    package var terminal: String?
    /// The key that begins an escape; nil for none.
    package var escape: UInt8?
    /// Its variables.
    package var environment: [EnvironmentVariable] = []

    /// A session of `program`.
    package init(_ program: RemoteProgram) { self.program = program }
  }

  /// The first words of both sides: the version of the protocol.
  case hello(version: UInt32)
  case session(UInt32, Session)
  case alive(UInt32)
  case exit(UInt32)
  case forward(UInt32, ForwardRule)
  case cancel(UInt32, ForwardRule)
  case stop(UInt32)
  /// Bytes to and from a target behind the host (`-W`). Two descriptors follow: input and output.
  case carry(UInt32, TunnelTarget)
  /// Another one, which is not taken.
  case other(UInt32)

  /// The version that is spoken.
  package static let version: UInt32 = 4
  /// The longest packet (OpenSSH's mux.c).
  package static let longest = 256 << 10

  private enum Number {
    static let hello: UInt32 = 1
    static let session: UInt32 = 0x1000_0002
    static let alive: UInt32 = 0x1000_0004
    static let exit: UInt32 = 0x1000_0005
    static let forward: UInt32 = 0x1000_0006
    static let cancel: UInt32 = 0x1000_0007
    static let carry: UInt32 = 0x1000_0008
    static let stop: UInt32 = 0x1000_0009
  }

  /// How many descriptors follow a packet.
  package static func descriptorCount(behind packet: [UInt8]) -> Int {
    var reader = WireReader(packet)
    return switch reader.uint32() {
    case Number.session: 3
    case Number.carry: 2
    default: 0
    }
  }

  /// The request in a packet, without its length; nil for what is none.
  package init?(_ packet: [UInt8]) {
    var reader = WireReader(packet)
    guard let type = reader.uint32(), let id = reader.uint32() else { return nil }
    switch type {
    // It may name extensions, which are left out.
    case Number.hello: self = .hello(version: id)
    case Number.alive: self = .alive(id)
    case Number.exit: self = .exit(id)
    case Number.stop: self = .stop(id)
    case Number.carry:
      guard reader.string() != nil, let host = reader.text(), let port = reader.uint32(),
        let target = TunnelTarget(host, port)
      else { return nil }
      self = .carry(id, target)
    case Number.session:
      guard let session = Session(&reader) else { return nil }
      self = .session(id, session)
    case Number.forward, Number.cancel:
      guard let rule = ForwardRule(&reader) else { return nil }
      self = type == Number.forward ? .forward(id, rule) : .cancel(id, rule)
    default: self = .other(id)
    }
  }

  /// The packet, with its length before it.
  package var packet: [UInt8] {
    var writer = WireWriter()
    switch self {
    case .hello(let version): writer.uint32s(Number.hello, version)
    case .session(let id, let session):
      writer.uint32s(Number.session, id)
      session.write(to: &writer)
    case .alive(let id): writer.uint32s(Number.alive, id)
    case .exit(let id): writer.uint32s(Number.exit, id)
    case .forward(let id, let rule):
      writer.uint32s(Number.forward, id)
      rule.write(to: &writer)
    case .cancel(let id, let rule):
      writer.uint32s(Number.cancel, id)
      rule.write(to: &writer)
    case .stop(let id): writer.uint32s(Number.stop, id)
    case .carry(let id, let target):
      writer.uint32s(Number.carry, id)
      writer.string("")
      target.write(to: &writer)
    case .other(let id): writer.uint32s(0, id)
    }
    return writer.packet
  }
}

extension ControlRequest.Session {
  fileprivate init?(_ reader: inout WireReader) {
    // X11 and the agent are not handed on.
    guard reader.string() != nil, let wantsTerminal = reader.uint32(), reader.uint32() != nil,
      reader.uint32() != nil, let isSubsystem = reader.uint32(), let escape = reader.uint32(),
      let type = reader.text(), let command = reader.string()
    else { return nil }
    do throws(AppError) {
      program =
        isSubsystem != 0
        ? try RemoteProgram(subsystem: command)
        : command.isEmpty ? .shell : try RemoteProgram(command: command)
    } catch {
      return nil
    }
    terminal = wantsTerminal == 0 ? nil : type
    self.escape = UInt8(exactly: escape)
    while reader.remaining > 0 {
      guard let text = reader.text() else { return nil }
      if let variable = EnvironmentVariable(assignment: text) { environment.append(variable) }
    }
  }

  fileprivate func write(to writer: inout WireWriter) {
    writer.string("")
    writer.uint32s(terminal == nil ? 0 : 1, 0, 0, program.request == .subsystem ? 1 : 0)
    // All bits are none.
    writer.uint32(escape.map(UInt32.init) ?? .max)
    writer.string(terminal ?? "")
    writer.string(program.bytes)
    for variable in environment { writer.string(variable.assignment) }
  }
}

extension ForwardRule {
  private enum Kind {
    static let local: UInt32 = 1
    static let remote: UInt32 = 2
    static let dynamic: UInt32 = 3
  }

  /// The target of a port of the host whose clients name theirs by SOCKS.
  private static let anyTarget = "socks"

  fileprivate init?(_ reader: inout WireReader) {
    guard let kind = reader.uint32(), let near = reader.text(), let nearPort = reader.uint32(),
      let far = reader.text(), let farPort = reader.uint32(), reader.remaining == 0,
      let source = Self.source(near, nearPort)
    else { return nil }
    switch (kind, farPort) {
    case (Kind.dynamic, _): self.init(from: source, to: .dynamic)
    case (Kind.remote, 0) where far == Self.anyTarget || far.isEmpty:
      self.init(from: source, to: .dynamic, on: .remote)
    case (Kind.local, let port), (Kind.remote, let port):
      guard let target = TunnelTarget(far, port) else { return nil }
      self.init(from: source, to: .fixed(target), on: kind == Kind.local ? .local : .remote)
    default: return nil
    }
  }

  fileprivate func write(to writer: inout WireWriter) {
    let kind = side == .remote ? Kind.remote : destination == .dynamic ? Kind.dynamic : Kind.local
    writer.uint32(kind)
    switch source {
    case .port(let address, let port):
      writer.string(address ?? "")
      writer.uint32(UInt32(port))
    case .socket(let path):
      writer.string(path)
      writer.uint32(TunnelTarget.path)
    }
    switch destination {
    case .fixed(let target): target.write(to: &writer)
    case .dynamic:
      writer.string(side == .remote ? Self.anyTarget : "")
      writer.uint32(0)
    }
  }

  private static func source(_ address: String, _ port: UInt32) -> Source? {
    if port == TunnelTarget.path { return address.isEmpty ? nil : .socket(path: address) }
    guard port <= UInt16.max else { return nil }
    return .port(address: address.isEmpty ? nil : address, Int(port))
  }
}

extension TunnelTarget {
  /// In the place of a port: the address before it is the path of a unix socket.
  fileprivate static let path: UInt32 = 0xFFFF_FFFE

  fileprivate init?(_ host: String, _ port: UInt32) {
    guard !host.isEmpty else { return nil }
    if port == Self.path {
      self = .socket(path: host)
    } else {
      guard port > 0, port <= UInt16.max else { return nil }
      self = .port(Endpoint(host: host, port: Int(port)))
    }
  }

  fileprivate func write(to writer: inout WireWriter) {
    switch self {
    case .port(let endpoint):
      writer.string(endpoint.host)
      writer.uint32(UInt32(endpoint.port))
    case .socket(let path):
      writer.string(path)
      writer.uint32(Self.path)
    }
  }
}
