extension CatalogueRow {
  static func fileNotFound(_ path: String) -> Self {
    Self(
      "fileNotFound", .file, cause: "There is no file at that path.",
      remedy: "Check the path; file names are case-sensitive.", title: "File Not Found",
      message: "The file \"\(Payload.fileName(Payload.exact(path)))\" doesn't exist.",
      shown: "\(Payload.shown(path)) does not exist.",
      icon: "doc.questionmark", options: [.browse, .cancel],
      metadata: ["file_path": Payload.exact(path)], exit: .fileMissing)
  }

  static func fileReadError(_ path: String, _ reason: String) -> Self {
    Self(
      "fileReadError", .file, cause: "The file exists but cannot be read.",
      remedy: "Check that it is a file, and its permissions (`ls -l`).",
      fact: "\(Payload.shown(path)) could not be read: \(Payload.sentence(reason))",
      icon: "doc.questionmark", metadata: ["file_path": Payload.exact(path)], exit: .fileMissing)
  }

  static func fileWriteError(_ path: String, _ reason: String) -> Self {
    Self(
      "fileWriteError", .file, cause: "The file, or its folder, cannot be written.",
      remedy: "Check the permissions of its folder (`ls -ld`) and the free space (`df -h`).",
      fact: "\(Payload.shown(path)) could not be written: \(Payload.sentence(reason))",
      icon: "doc.questionmark", metadata: ["file_path": Payload.exact(path)],
      exit: .fileNotWritable)
  }

  static func insufficientDiskSpace(_ required: Int64, _ available: Int64) -> Self {
    Self(
      "insufficientDiskSpace", .file, cause: "The disk is full, or nearly so.",
      remedy: "Delete or move something, then continue.",
      fact:
        "This needs \(Payload.size(required)) of disk space (free: \(Payload.size(available))).",
      exit: .fileNotWritable)
  }

  static func filePermissionDenied(_ path: String) -> Self {
    Self(
      "filePermissionDenied", .file, cause: "The file belongs to another user, or is protected.",
      remedy: "Ask its owner, or change its permissions (`ls -l`).",
      fact: "You have no permission to use \(Payload.shown(path)).", exit: .fileMissing,
      tool: .permission)
  }

  static func encodingError(_ type: String, _ detail: String) -> Self {
    Self(
      "encodingError", .persistence, cause: "A value could not be encoded for storage.",
      remedy: "This is a bug in the program: report it with this text. Nothing was written.",
      fact: "\(Payload.shown(type)) could not be saved: \(Payload.sentence(detail))",
      tool: .parse)
  }

  static func decodingError(_ type: String, _ detail: String) -> Self {
    Self(
      "decodingError", .persistence, cause: "Data is damaged, or from another version.",
      remedy: "Restore it from a backup, or update the older program.",
      fact: "\(Payload.shown(type)) could not be read: \(Payload.sentence(detail))", tool: .parse)
  }

  static func databaseError(_ operation: String, _ detail: String) -> Self {
    Self(
      "databaseError", .persistence, cause: "The database is locked, damaged or out of space.",
      remedy: "Check its file's permissions and the free space; if damaged, restore a backup.",
      fact: "The database failed at \(Payload.shown(operation)): \(Payload.sentence(detail))")
  }

  static func migrationError(_ from: Int, _ to: Int, _ reason: String) -> Self {
    Self(
      "migrationError", .persistence, cause: "Stored data could not be migrated to this version.",
      remedy: "Keep a copy of the data, and use the earlier version of the program meanwhile.",
      fact: """
        The data could not be migrated from version \(from) to \(to): \(Payload.sentence(reason))
        """)
  }
}
