import BridgeSessionProtocol

/// The content of a session's `state` file: the phase, and once it ended, the tombstone.
struct StateRecord: Equatable {
  /// How far a start or an end came. Each is on disk before the next step is taken.
  enum Phase: String {
    /// The id is taken; no program was started.
    case claimed
    /// The program may have been started.
    case starting
    /// It was started.
    case running
    /// Its leader ended; output may follow.
    case exited
    /// Its output is complete.
    case ended
  }

  var phase: Phase
  /// The boot in which it was written.
  var boot: [UInt8]
  var epoch: UInt64
  var process: UInt64?
  var processStart: UInt64?
  var end: ProgramEnd?
  var input = InputRecord()
  var newest: UInt64 = 0
  var startedAt: UInt64 = 0
  var endedAt: UInt64?
  var survivesLogout = ""
  /// The keeper's process, and when it started.
  var keeper: UInt64?
  var keeperStart: UInt64?
  /// The machine that it was started on: others may have the same files. Empty where an older
  /// version has written it.
  var node = ""

  static let name = "state"
  static let limit = 4096

  init(phase: Phase, boot: [UInt8], epoch: UInt64) {
    self.phase = phase
    self.boot = boot
    self.epoch = epoch
  }

  /// - Throws: also where a byte is not what was written; a record of an older version has no sum.
  init(_ bytes: [UInt8]) throws(ProtocolError) {
    let fields = try FieldReader(bytes[...])
    if let sum = try fields.bytes("sum"), sum != Self.sum(of: bytes.dropLast(Self.sumLength)) {
      throw .malformedFields("sum")
    }
    phase = try fields.required("phase", fields.choice("phase"))
    boot = try fields.required("boot", fields.bytes("boot"))
    epoch = try fields.required("epoch", fields.number("epoch"))
    process = try fields.number("process")
    processStart = try fields.number("process-start")
    if let payload = try fields.bytes("end") { end = try ProgramEnd(payload[...]) }
    input = InputRecord(
      taken: try fields.offset("taken") ?? 0, lastControl: try fields.offset("control") ?? 0,
      lease: try fields.offset("lease") ?? 0, holder: try fields.identifier("holder"))
    input.endedLeases = Self.leases(try fields.bytes("leases") ?? [])
    newest = try fields.offset("newest") ?? 0
    startedAt = try fields.number("started") ?? 0
    endedAt = try fields.number("finished")
    survivesLogout = try fields.text("logout") ?? ""
    keeper = try fields.number("keeper")
    keeperStart = try fields.number("keeper-start")
    node = try fields.text("node") ?? ""
  }

  /// Whether it was started on another machine. A container has another name, but the boot of its
  /// host.
  var isElsewhere: Bool { boot != Machine.boot && !node.isEmpty && node != Machine.node }

  /// Records of 32 bytes: lease (8), client (16), accepted (8).
  private static func leases(_ bytes: [UInt8]) -> [EndedLease] {
    stride(from: 0, to: bytes.count / 32 * 32, by: 32).compactMap { start in
      let number = { (at: Int) in bytes[at..<(at + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
      guard let client = ClientID(bytes: Array(bytes[(start + 8)..<(start + 24)])) else {
        return nil
      }
      return EndedLease(lease: number(start), client: client, accepted: number(start + 24))
    }
  }

  private var leases: [UInt8] {
    input.endedLeases.flatMap { Self.eight($0.lease) + $0.client.bytes + Self.eight($0.accepted) }
  }

  static func eight(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - $0 * 8)) }
  }

  var bytes: [UInt8] {
    var fields = FieldWriter()
    fields.add("phase", text: phase.rawValue)
    fields.add("boot", bytes: boot)
    fields.add("epoch", number: epoch)
    fields.add("process", number: process)
    fields.add("process-start", number: processStart)
    fields.add("end", bytes: end?.payload)
    fields.add("taken", number: input.taken)
    fields.add("control", number: input.lastControl)
    fields.add("lease", number: input.lease)
    fields.add("holder", bytes: input.holder?.bytes)
    fields.add("newest", number: newest)
    fields.add("started", number: startedAt)
    fields.add("finished", number: endedAt)
    fields.add("logout", text: survivesLogout)
    fields.add("leases", bytes: leases)
    fields.add("keeper", number: keeper)
    fields.add("keeper-start", number: keeperStart)
    fields.add("node", text: node.isEmpty ? nil : node)
    let bytes = fields.bytes
    fields.add("sum", bytes: Self.sum(of: bytes))
    return fields.bytes
  }

  /// The last field: of all bytes before it.
  private static func sum(of bytes: [UInt8]) -> [UInt8] {
    var checksum = Checksum()
    checksum.add(bytes)
    return checksum.bytes
  }

  private static let sumLength: Int = {
    var fields = FieldWriter()
    fields.add("sum", bytes: sum(of: []))
    return fields.bytes.count
  }()
}

/// What changes often: the `live` file, overwritten in place.
struct LiveRecord: Equatable {
  var committed: UInt64 = 0
  var attached: UInt64 = 0
  /// A full disk still takes these bytes, which have their place.
  var memory: SessionStatus.Memory?
  /// The program waits for a reader.
  var waitsForReader = false
  /// When the last client left a session that belongs to one, in seconds since 1970; 0 for never.
  var aloneSince: UInt64 = 0
  /// Where the output in memory begins; nil where none is there, and from an earlier version.
  var memoryStart: UInt64?

  static let name = "live"
  /// Without the start of the memory, as an earlier version writes it.
  private static let shortLength = 26
  static let length = shortLength + 8

  init(
    committed: UInt64 = 0, attached: UInt64 = 0, memory: SessionStatus.Memory? = nil,
    waitsForReader: Bool = false, aloneSince: UInt64 = 0, memoryStart: UInt64? = nil
  ) {
    self.committed = committed
    self.attached = attached
    self.memory = memory
    self.waitsForReader = waitsForReader
    self.aloneSince = aloneSince
    self.memoryStart = memoryStart
  }

  init(_ bytes: [UInt8]) {
    guard bytes.count >= 16 else { return }
    committed = bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }
    // No offset of an output: the bytes were changed.
    if committed >= Limits.offset { committed = 0 }
    attached = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
    // One of an earlier version is shorter.
    guard bytes.count >= 17 else { return }
    if bytes[16] > 0 { memory = bytes[16] == 1 ? .output : .end }
    guard bytes.count >= Self.shortLength else { return }
    waitsForReader = bytes[17] == 1
    aloneSince = bytes[18..<Self.shortLength].reduce(0) { $0 << 8 | UInt64($1) }
    guard bytes.count == Self.length else { return }
    let start = bytes[Self.shortLength...].reduce(0) { $0 << 8 | UInt64($1) }
    memoryStart = start < Limits.offset ? start : nil
  }

  var bytes: [UInt8] {
    let kept: UInt8 =
      switch memory {
      case nil: 0
      case .output: 1
      case .end: 2
      }
    return StateRecord.eight(committed) + StateRecord.eight(attached)
      + [kept, waitsForReader ? 1 : 0] + StateRecord.eight(aloneSince)
      + StateRecord.eight(memoryStart ?? .max)
  }
}
