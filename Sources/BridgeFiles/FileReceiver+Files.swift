import BridgeSessionProtocol

// The files of a stream.
extension FileReceiver {

  func begin(_ entry: UInt64, _ name: FileName?, _ start: FileStart) {
    let path = incoming.directory + (name.map { [$0.bytes] } ?? [])
    refusedFile = nil
    self.start = start
    if !isRecursive { events.append(.begun(size: start.size)) }
    guard let target else { return }
    var directory: OpenFile? = target.directory
    if name != nil { directory = directories.last ?? nil }
    guard let directory, let own = name?.bytes ?? target.name else {
      // Below a directory that could not be made.
      writing = Writing(
        file: nil, directory: target.directory, name: [], temporary: [], path: path, start: start,
        hash: noBytes, kept: noBytes)
      refuse(
        entry, path,
        name == nil ? FileFault(.isDirectory) : FileFault(.unwritable, Self.noDirectory),
        isUnderWay: true)
      return
    }
    var hash = noBytes
    if start.offset > 0, let part { hash = FileHash(part.state, count: part.offset, key: key) }
    if part?.path == path { part = nil }
    var writing = Writing(
      file: nil, directory: directory, name: own, temporary: temporary(own), path: path,
      start: start, hash: hash, kept: hash)
    do throws(FileFault) {
      let file = try open(writing)
      writing = Writing(
        file: file, directory: directory, name: own, temporary: writing.temporary, path: path,
        start: start, hash: writing.hash, kept: writing.kept)
      if start.offset > 0 { events.append(.continued(path, at: start.offset)) }
    } catch {
      if start.offset > 0, isRecursive, !error.code.endsAll {
        directory.remove(writing.temporary)
      }
      refuse(entry, path, error, isUnderWay: true)
    }
    self.writing = writing
  }

  /// The check of an empty file.
  private var noBytes: FileHash { FileHash(key: key) }

  /// Said of what would lie in a directory that could not be made.
  package static let noDirectory = "its directory could not be made"

  private func open(_ writing: Writing) throws(FileFault) -> OpenFile {
    let (directory, start) = (writing.directory, writing.start)
    try directory.requireReplaceable(writing.name)
    try requireSpace(for: start, in: directory)
    do throws(SystemFailure) {
      if let striping { return try openStripe(start, striping.stripe) }
      guard start.offset > 0 else { return try create(writing) }
      let file = try directory.reopen(writing.temporary)
      try hold(file, writing)
      guard try file.status().size >= start.offset else { throw SystemFailure.missing }
      try file.truncate(to: start.offset)
      return file
    } catch {
      throw error == .locked ? FileFault(.busy) : error.ofTarget
    }
  }

  /// Each stream knows how long the file is at least, and the one with its end how long.
  private func requireSpace(for start: FileStart, in directory: OpenFile) throws(FileFault) {
    guard start.size - start.offset >= Self.checkedSize, let free = directory.freeSpace else {
      return
    }
    var needed = start.size - start.offset
    if let striping {
      // What others have written since is not counted twice.
      let size = striping.stripe.position(of: start.size - 1) + 1
      needed = size - min(size, owner?.part.allocated ?? 0)
    }
    guard free < needed else { return }
    throw FileFault(.noSpace, space: .init(required: needed, available: free))
  }

  private func create(_ writing: Writing) throws(SystemFailure) -> OpenFile {
    let directory = writing.directory
    do throws(SystemFailure) {
      let file = try directory.create(writing.temporary)
      try hold(file, writing)
      return file
    } catch {
      guard error.exists else { throw error }
    }
    // What an earlier run left, unless another one writes it now.
    if let old = try? directory.reopen(writing.temporary), !take(old) { throw .locked }
    directory.remove(writing.temporary)
    let file = try directory.create(writing.temporary)
    try hold(file, writing)
    return file
  }

  /// Locks a part. Before that another run may have taken its name, or given it to another file.
  private func hold(_ file: OpenFile, _ writing: Writing) throws(SystemFailure) {
    guard take(file), file.isNamed(writing.temporary, in: writing.directory) else {
      throw .locked
    }
  }

  /// From this length on the free space is asked for before the first byte.
  private static let checkedSize: UInt64 = 1 << 20

  func write(_ bytes: [UInt8], at offset: UInt64) {
    guard let file = writing?.file else { return }
    writing?.hash.add(bytes)
    do throws(SystemFailure) {
      try file.write(bytes, at: offset, of: striping?.stripe)
    } catch {
      giveUp(error.ofTarget)
    }
  }

  func verify(_ state: [UInt8], at offset: UInt64) {
    guard let current = writing, current.file != nil else { return }
    guard current.hash.state == state else { return giveUp(FileFault(.mismatch)) }
    writing?.kept = current.hash
    acknowledge()
  }

  func finish(_ end: FileEnd) {
    guard let current = writing else { return }
    guard let file = current.file else {
      writing = nil
      if let fault = refusedFile.take() {
        events.append(.missing(current.path, fault, isTarget: true))
      }
      return settle(current.path)
    }
    guard file.isNamed(current.temporary, in: current.directory) else {
      writing = nil
      refuse(entries, current.path, FileFault(.unwritable, "another program replaced its part"))
      return settle(current.path)
    }
    let digest = current.hash.digest
    do throws(FileFault) {
      let isVerified = end.digest != nil || !acceptsNoDigest
      guard end.digest == digest || !isVerified else { throw FileFault(.mismatch) }
      if striping == nil { try complete(current, file) }
      // A host that sends one file again and again brings nothing.
      if after.map({ $0.precedes(current.path) }) ?? true {
        settled.files += 1
        settled.bytes += current.start.size
      }
      events.append(
        .copied(
          current.path, bytes: current.start.size, digest: end.digest,
          hasChanged: end.hasChanged))
    } catch {
      if striping == nil { current.directory.remove(current.temporary) }
      refuse(entries, current.path, error)
    }
    writing = nil
    settle(current.path)
  }

  private func complete(_ writing: Writing, _ file: OpenFile) throws(FileFault) {
    // Another program may have given it to something else since.
    try writing.directory.requireReplaceable(writing.name)
    do throws(SystemFailure) {
      file.takeOwner(of: writing.name, in: writing.directory)
      try file.set(writing.start.meta)
      try writing.directory.rename(writing.temporary, to: writing.name)
    } catch {
      throw error.ofTarget
    }
    guard !isRecursive else { return }
    PartNames(writing.name, of: transfer).removeOthers(than: nil, in: writing.directory)
  }

  /// The file under way cannot be written: the rest of it is passed over.
  private func giveUp(_ fault: FileFault) {
    guard let current = writing else { return }
    drop()
    writing = Writing(
      file: nil, directory: current.directory, name: current.name, temporary: [],
      path: current.path, start: current.start, hash: noBytes, kept: noBytes)
    refuse(entries, current.path, fault, isUnderWay: true)
  }

  /// Removes the file under way.
  func drop() {
    guard let current = writing else { return }
    // The last stream that ends removes what several write.
    if striping == nil,
      current.file?.isNamed(current.temporary, in: current.directory) == true
    {
      current.directory.remove(current.temporary)
    }
    writing = nil
  }
}
