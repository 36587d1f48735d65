import BridgeSessionProtocol

/// Which run writes a part that several streams write at once, each in a process of its own.
///
/// A file beside the part names the run, and a stamp of the moment when that run took the part
/// over. The streams of one run share a lock of that file; another run takes the part over only
/// where no stream is left, and all that the former run knew of the part is void then: its stamp is
/// another one.
final class PartOwner {
  /// Of the moment when this run took the part over.
  let stamp: [UInt8]
  private let file: OpenFile
  private let name: [UInt8]
  private let directory: OpenFile

  private init(_ file: OpenFile, _ name: [UInt8], in directory: OpenFile, stamp: [UInt8]) {
    (self.file, self.name, self.directory, self.stamp) = (file, name, directory, stamp)
  }

  /// Of a run, and of a stamp.
  private static let length = 16
  /// The byte whose lock is held for a moment, to read who owns the part and to change that.
  private static let change = 0
  /// The byte whose lock the streams of the owner share.
  private static let membership = 1
  /// How often a file may be removed between its opening and its lock.
  private static let attempts = 100

  /// Takes part in a run, for as long as the result lives.
  ///
  /// - Parameter stamp: of the moment, 16 bytes; of use where the run takes the part over.
  /// - Throws: `busy` where another run writes the part; what keeps the file from being made.
  static func join(
    _ run: Identifier, _ name: [UInt8], in directory: OpenFile, stamp: [UInt8]
  ) throws(FileFault) -> PartOwner {
    do throws(SystemFailure) {
      for _ in 0..<attempts {
        if let owner = try take(run, open(name, in: directory), name, directory, stamp) {
          return owner
        }
      }
      throw .locked
    } catch {
      throw error == .locked ? FileFault(.busy) : error.ofTarget
    }
  }

  /// Nil where the file was removed meanwhile.
  private static func take(
    _ run: Identifier, _ file: OpenFile, _ name: [UInt8], _ directory: OpenFile, _ stamp: [UInt8]
  ) throws(SystemFailure) -> PartOwner? {
    guard file.lock(byte: change, .alone, waits: true), file.isNamed(name, in: directory) else {
      return nil
    }
    defer { _ = file.lock(byte: change, .none) }
    var owned = stamp
    if let known = try known(run, in: file) {
      owned = known
    } else {
      guard file.lock(byte: membership, .alone) else { throw .locked }
      try file.write(run.bytes + stamp, at: 0)
    }
    guard file.lock(byte: membership, .shared) else { throw .locked }
    return PartOwner(file, name, in: directory, stamp: owned)
  }

  /// The owner as a run left it that wrote all of the part; nil where another run took that over.
  static func find(_ run: Identifier, _ name: [UInt8], in directory: OpenFile) -> PartOwner? {
    guard let file = try? directory.reopen(name),
      file.lock(byte: change, .alone, waits: true), file.isNamed(name, in: directory)
    else { return nil }
    defer { _ = file.lock(byte: change, .none) }
    guard let stamp = try? known(run, in: file), file.lock(byte: membership, .shared) else {
      return nil
    }
    return PartOwner(file, name, in: directory, stamp: stamp)
  }

  private static func open(
    _ name: [UInt8], in directory: OpenFile
  ) throws(SystemFailure) -> OpenFile {
    do throws(SystemFailure) {
      return try directory.create(name)
    } catch {
      guard error.exists else { throw error }
      return try directory.reopen(name)
    }
  }

  /// The stamp of a run's file; nil where another run has it.
  private static func known(
    _ run: Identifier, in file: OpenFile
  ) throws(SystemFailure) -> [UInt8]? {
    var bytes: [UInt8] = []
    try file.read(at: 0, count: 2 * length, into: &bytes)
    guard bytes.count == 2 * length, bytes.starts(with: run.bytes) else { return nil }
    return Array(bytes.dropFirst(length))
  }

  /// Removes its file: the part is complete, or given up.
  func remove() {
    if file.isNamed(name, in: directory) { directory.remove(name) }
  }
}
