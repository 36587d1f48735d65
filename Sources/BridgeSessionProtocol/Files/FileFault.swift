/// Why a file is not copied, as either end finds it.
package struct FileFault: Error, Sendable, Equatable {
  /// The reasons of version 1.
  package enum Code: UInt8, Sendable, CaseIterable {
    /// There is nothing at that path.
    case notFound = 1
    /// It may not be read.
    case denied = 2
    /// A directory is where a file is to be.
    case isDirectory = 3
    /// Something else is where a directory is to be, or a symbolic link to one.
    case notDirectory = 4
    /// There is no space for it.
    case noSpace = 5
    /// It cannot be read.
    case unreadable = 6
    /// It cannot be written.
    case unwritable = 7
    /// It is neither a file, a directory nor a symbolic link.
    case special = 8
    /// It became shorter while it was read.
    case shrank = 9
    /// Its name cannot be one.
    case unsafeName = 10
    /// It is a symbolic link that leads out of the tree.
    case unsafeLink = 11
    /// Another copy writes it.
    case busy = 12
    /// What was written is not what was read.
    case mismatch = 13
    /// Too many directories inside each other, or too many names in one.
    case tooLarge = 14
    /// It is a directory, and those were not asked for.
    case needsRecursion = 15
    /// The other end broke the protocol.
    case violation = 16
    /// The other end speaks another version.
    case version = 17

    /// Whether nothing else can be copied either.
    package var endsAll: Bool {
      switch self {
      case .noSpace, .violation, .version, .busy: true
      case .notFound, .denied, .isDirectory, .notDirectory, .unreadable, .unwritable, .special,
        .shrank, .unsafeName, .unsafeLink, .mismatch, .tooLarge, .needsRecursion:
        false
      }
    }
  }

  /// The text of one whose directory is not there.
  package static let noDirectory = "the directory for it does not exist"
  /// The text of one that would take the name of something that programs use by that name.
  package static let specialName = "a device, a pipe or a socket has its name"
  /// What the system calls a name that is longer than it takes (ENAMETOOLONG).
  package static let nameTooLong = "File name too long"

  /// The reason.
  package var code: Code
  /// What the system said, at most 1 KiB; empty where the code says all.
  package var text: String
  /// With `noSpace`: what is required, and what is there, where that is known.
  package var space: Space?

  /// Bytes of a file system.
  package struct Space: Sendable, Equatable {
    package var required: UInt64
    package var available: UInt64

    package init(required: UInt64, available: UInt64) {
      (self.required, self.available) = (required, available)
    }
  }

  package init(_ code: Code, _ text: String = "", space: Space? = nil) {
    self.code = code
    self.text = String(decoding: text.utf8.prefix(Int(Limits.text)), as: UTF8.self)
    self.space = space
  }

  init(_ payload: ArraySlice<UInt8>) throws(ProtocolError) {
    let fields = try FieldReader(payload)
    let number = try fields.required("code", try fields.number("code"))
    guard let code = UInt8(exactly: number).flatMap(Code.init) else {
      throw .malformedFields("code")
    }
    var space: Space?
    if let required = try fields.offset("required"), let available = try fields.offset("available")
    {
      space = Space(required: required, available: available)
    }
    self.init(code, try fields.text("text") ?? "", space: space)
  }

  var payload: [UInt8] {
    var fields = FieldWriter()
    fields.add("code", number: UInt64(code.rawValue))
    fields.add("text", text: text)
    fields.add("required", number: space?.required)
    fields.add("available", number: space?.available)
    return fields.bytes
  }
}
