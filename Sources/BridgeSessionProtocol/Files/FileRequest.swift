/// What the client asks of `bridge-host files`: the first frame of a stream.
package struct FileRequest: Sendable, Equatable {
  /// Which end the host is.
  package enum Role: UInt8, Sendable {
    /// The host sends.
    case get = 1
    /// The host receives.
    case put = 2
    /// The host gives a file its name that came in several streams: no stream follows.
    case join = 3
  }

  /// The streams of one file that came together.
  package struct Join: Sendable, Equatable {
    /// The length of the file.
    package var size: UInt64
    package var meta: FileMeta
    /// Whether it was requested before, and the answer was lost.
    package var isRepeated: Bool

    package init(size: UInt64, meta: FileMeta, isRepeated: Bool) {
      (self.size, self.meta, self.isRepeated) = (size, meta, isRepeated)
    }
  }

  /// Which end the host is.
  package var role: Role
  /// The path there: absolute, or from the home directory.
  package var path: [UInt8]
  /// With `put`: the name in `path` where that is a directory; nil copies the content into it.
  package var name: [UInt8]?
  /// Whether directories are copied.
  package var isRecursive: Bool
  /// With `get`: what of a tree is not copied.
  package var exclusion = FileExclusion.none
  /// The same for every attempt at the same copy, in this run and in later ones.
  package var transfer: Identifier
  /// With `put`: where the last channel ended; with `join`: where the channels of all streams
  /// ended.
  package var point: FilePoint?
  /// The stream of a file that several carry; with `join` any of them.
  package var stripe: FileStripe?
  /// With a stripe: the run that all of them belong to.
  package var run: Identifier?
  /// With `join`: what the file is to be.
  package var join: Join?
  /// The key of the check of all bytes, 16 random bytes; nil for SHA-256.
  package var key: [UInt8]?
  /// Whether the host is to say first where it is. One that does not know of it does not.
  package var asksSite = false

  package init(_ role: Role, path: [UInt8], transfer: Identifier) {
    self.role = role
    self.path = path
    self.transfer = transfer
    isRecursive = false
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    let version = try fields.required("version", try fields.number("version"))
    guard FileLimits.versions.contains(UInt8(clamping: version)) else {
      throw .wrongVersion(UInt8(clamping: version))
    }
    let role = try fields.required("role", try fields.number("role"))
    guard let known = UInt8(exactly: role).flatMap(Role.init) else {
      throw .malformedFields("role")
    }
    self.role = known
    path = try fields.required("path", try fields.bytes("path"))
    name = try fields.bytes("name")
    guard name.map({ FileName($0) != nil }) ?? true else { throw .malformedFields("name") }
    guard !path.contains(0), path.count <= FileLimits.path else { throw .malformedFields("path") }
    isRecursive = try fields.bytes("recursive") != nil
    if let bytes = try fields.bytes("exclude") { exclusion = try FileExclusion(bytes) }
    let identifier = try fields.bytes("transfer").flatMap { Identifier(bytes: $0) }
    transfer = try fields.required("transfer", identifier)
    point = try fields.bytes("point").map { (bytes) throws(ProtocolError) in
      try FilePoint(bytes[...])
    }
    stripe = try fields.bytes("stripe").map { (bytes) throws(ProtocolError) in
      try FileStripe(bytes)
    }
    run = try fields.bytes("run").flatMap { Identifier(bytes: $0) }
    key = try fields.bytes("key")
    guard key.map({ $0.count == FileLimits.key }) ?? true else { throw .malformedFields("key") }
    asksSite = try fields.bytes("site") != nil
    join = try Self.join(fields)
    // A file that is striped is one file.
    let isStriped = stripe != nil && run != nil && !isRecursive
    guard (stripe == nil && known != .join) || isStriped, (join != nil) == (known == .join) else {
      throw .malformedFields("stripe")
    }
  }

  private static func join(_ fields: FieldReader) throws(ProtocolError) -> Join? {
    guard let size = try fields.offset("size") else { return nil }
    let meta = try fields.required("meta", try fields.bytes("meta"))
    guard meta.count == FileMeta.length else { throw .malformedFields("meta") }
    return Join(
      size: size, meta: try FileMeta(meta[...]), isRepeated: try fields.bytes("again") != nil)
  }

  /// The version that a host must know for it.
  private var version: UInt8 {
    if exclusion != .none { return 4 }
    if key != nil { return 3 }
    return stripe == nil ? 1 : 2
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("version", number: UInt64(version))
    fields.add("role", number: UInt64(role.rawValue))
    fields.add("path", bytes: path)
    fields.add("name", bytes: name)
    if isRecursive { fields.add("recursive", bytes: []) }
    fields.add("exclude", bytes: exclusion.bytes)
    fields.add("transfer", bytes: transfer.bytes)
    fields.add("point", bytes: point?.payload)
    fields.add("stripe", bytes: stripe?.bytes)
    fields.add("run", bytes: run?.bytes)
    fields.add("key", bytes: key)
    if asksSite { fields.add("site", bytes: []) }
    if let join {
      fields.add("size", number: join.size)
      fields.add("meta", bytes: join.meta.bytes)
      if join.isRepeated { fields.add("again", bytes: []) }
    }
    return fields.bytes
  }
}

/// Where a stream goes on: after an entry, and inside the file that comes next.
package struct FilePoint: Sendable, Equatable {
  /// A file of which a part was copied.
  package struct Part: Sendable, Equatable {
    /// Its path in the tree.
    package var path: FilePath
    /// So many bytes of it are there: a multiple of `FileLimits.block`.
    package var offset: UInt64
    /// The state of the check after them; from a host that has no `bridge-host`, where the bytes
    /// are compared, their digest.
    package var state: [UInt8]
    /// Which file the sender read; empty where that is not known: then its bytes are compared.
    package var identity: [UInt8]

    package init(path: FilePath, offset: UInt64, state: [UInt8], identity: [UInt8] = []) {
      self.path = path
      self.offset = offset
      self.state = state
      self.identity = identity
    }
  }

  /// The last entry that is settled; nil where none is.
  package var after: FilePath?
  /// The file that was under way.
  package var part: Part?
  /// The boot of the receiver's machine: what another one left unwritten may be lost. With a
  /// stripe also who writes the part there: what another run wrote is not known.
  package var boot: [UInt8]
  /// Whether the copy lies inside the destination, a directory that was there before; nil where
  /// that is not decided yet.
  package var isInside: Bool?

  /// The beginning.
  package init(after: FilePath? = nil, part: Part? = nil, boot: [UInt8] = []) {
    self.after = after
    self.part = part
    self.boot = boot
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    after = try Self.path(fields, "after")
    part = try Self.part(fields)
    isInside = try fields.number("inside").map { $0 != 0 }
    boot = try fields.bytes("boot") ?? []
    guard boot.count <= FileLimits.boot else { throw .malformedFields("boot") }
  }

  private static func path(
    _ fields: FieldReader, _ name: String
  ) throws(ProtocolError) -> FilePath? {
    guard let bytes = try fields.bytes(name) else { return nil }
    guard let path = FilePath(joined: bytes) else { throw .malformedFields(name) }
    return path
  }

  private static func part(_ fields: FieldReader) throws(ProtocolError) -> Part? {
    guard let path = try path(fields, "part") else { return nil }
    let offset = try fields.required("part", try fields.offset("part-offset"))
    let state = try fields.required("part", try fields.bytes("part-state"))
    let identity = try fields.bytes("part-identity") ?? []
    guard state.count == FileLimits.state, identity.count <= 64,
      offset.isMultiple(of: FileLimits.block)
    else { throw .malformedFields("part") }
    return Part(path: path, offset: offset, state: state, identity: identity)
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("after", bytes: after?.joined)
    if let part {
      fields.add("part", bytes: part.path.joined)
      fields.add("part-offset", number: part.offset)
      fields.add("part-state", bytes: part.state)
      fields.add("part-identity", bytes: part.identity)
    }
    fields.add("inside", number: isInside.map { $0 ? 1 : 0 })
    fields.add("boot", bytes: boot)
    return fields.bytes
  }
}
