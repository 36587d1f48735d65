import BridgeErrors
public import FoundationEssentials

/// Writes one JSON object a line to a file that only its owner can read.
///
/// A full file becomes `NAME.1` and takes the place of the one before, so two files of `limit`
/// bytes are the most there ever is.
public actor JSONLinesSink: ErrorSink {
  /// How many records could not be written.
  public private(set) var failures = 0
  private let file: URL
  private let limit: Int

  /// A sink into `file`, which is made when the first record comes. `limit` in bytes.
  public init(file: URL, limit: Int = 1 << 20) {
    self.file = file
    self.limit = limit
  }

  /// Writes one record, or counts that it could not.
  public func record(_ data: ErrorData) {
    do {
      try append(try JSONEncoder.apiEncoder.encode(data) + Data("\n".utf8))
    } catch {
      failures += 1
    }
  }

  private func append(_ line: Data) throws {
    let files = FileManager.default
    let size = try? files.attributesOfItem(atPath: file.path)[.size] as? Int
    if let size, size + line.count > limit { try rotate() }
    if !files.fileExists(atPath: file.path),
      !files.createFile(
        atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
    {
      throw CocoaError(.fileWriteUnknown)
    }
    try FileTail.append(Array(line), toFile: file.path)
  }

  private func rotate() throws {
    let old = file.appendingPathExtension("1")
    try? FileManager.default.removeItem(at: old)
    try FileManager.default.moveItem(at: file, to: old)
  }
}
