package import BridgeSessionProtocol

// One of several streams of a file. All of them write the same part, each its own bytes of it; the
// file gets its name when all are whole: see `FileJoin`.
extension FileReceiver {
  /// The run that the streams of a file belong to, and which of them this is.
  package struct Striping {
    package let stripe: FileStripe
    package let run: Identifier
    /// What no other receiver has.
    package let salt: Identifier

    package init(_ stripe: FileStripe, run: Identifier, salt: Identifier) {
      (self.stripe, self.run, self.salt) = (stripe, run, salt)
    }
  }

  /// Takes part in the run, as long as this stream goes on.
  func joinRun() throws(FileFault) {
    guard let striping, let target, let name = target.name else { return }
    let names = PartNames(name, of: transfer)
    joined &+= 1
    let stamp = FileHash.digest(of: striping.salt.bytes + [joined]).prefix(16)
    let owner = try PartOwner.join(
      striping.run, names.owner(striping.stripe.count), in: target.directory,
      stamp: Array(stamp))
    // What was written before another run had the part is not there any more.
    if let known = lastStamp, known != owner.stamp {
      guard after == nil else { throw FileFault(.busy) }
      part = nil
    }
    lastStamp = owner.stamp
    self.owner = owner
  }

  /// All of a stream is there only where no other run wrote the part since.
  func verifyRun(_ claim: FilePoint) throws(FileFault) {
    guard striping == nil || claim.after == nil || claim.boot == origin else {
      throw FileFault(.busy)
    }
  }

  /// Whether the part of a stream is still there; the owner says that no other run wrote it.
  func isThere(_ known: FilePoint.Part) -> Bool {
    guard let striping, let target, let name = target.name,
      let file = try? target.directory.reopen(temporary(name))
    else { return false }
    return file.holds(known.offset, of: striping.stripe)
  }

  /// The boot of the receiver's machine, and who writes the part.
  package var origin: [UInt8] { boot + (owner?.stamp ?? []) }

  /// What of this stream's bytes is there: as far as it was acknowledged, or as an earlier run left
  /// it, whose bytes are compared.
  func findStripe(_ claimed: FilePoint.Part, isKnown: Bool, _ stripe: FileStripe) {
    guard let target, let name = target.name,
      let file = try? target.directory.reopen(temporary(name))
    else { return }
    if isKnown, claimed.offset > 0, file.holds(claimed.offset, of: stripe) {
      part = claimed
    } else if let count = try? file.written(of: stripe),
      let hash = try? FileHash(of: file, count: count, stripe)
    {
      part = .init(path: claimed.path, offset: hash.count, state: hash.state)
    }
  }

  /// The part that all streams write.
  func openStripe(_ writing: Writing, _ stripe: FileStripe) throws(SystemFailure) -> OpenFile {
    let (directory, offset) = (writing.directory, writing.start.offset)
    do throws(SystemFailure) {
      if offset == 0 { return try directory.create(writing.temporary) }
    } catch {
      guard error.exists else { throw error }
    }
    let file = try directory.reopen(writing.temporary)
    guard offset == 0 || file.holds(offset, of: stripe) else { throw .missing }
    return file
  }

  /// Removes what the streams of this run wrote: the file will not be completed.
  func removeStripes() {
    guard let owner, let target, let name = target.name else { return }
    target.directory.remove(temporary(name))
    owner.remove()
  }
}

extension OpenFile {
  /// Whether it is long enough for so many bytes of a stream, which are at least one.
  fileprivate func holds(_ count: UInt64, of stripe: FileStripe) -> Bool {
    guard count > 0, let size = try? status().size else { return false }
    return size > stripe.position(of: count - 1)
  }

  /// How many bytes of a stream are there, as far as the holes of the part say: a multiple of
  /// `FileLimits.block`. What they say may be too much; nothing relies on it but what to compare.
  func written(of stripe: FileStripe) throws(SystemFailure) -> UInt64 {
    var count: UInt64 = 0
    while true {
      let start = stripe.position(of: count)
      let end = try endOfData(from: start)
      guard end < start + FileStripe.unit else {
        count += FileStripe.unit
        continue
      }
      // The last block of the file system may be written in part.
      let filled = end - min(end, start)
      return count + (filled - min(filled, UInt64(FileLimits.data))) / FileLimits.block
        * FileLimits.block
    }
  }

  /// Writes bytes of a stream of this file; nil where there is one stream.
  func write(
    _ bytes: [UInt8], at offset: UInt64, of stripe: FileStripe?
  ) throws(SystemFailure) {
    guard let stripe else { return try write(bytes, at: offset) }
    var (rest, offset) = (bytes[...], offset)
    while !rest.isEmpty {
      let count = Int(min(UInt64(rest.count), stripe.run(at: offset)))
      try write(
        count == bytes.count ? bytes : Array(rest.prefix(count)), at: stripe.position(of: offset))
      rest = rest.dropFirst(count)
      offset += UInt64(count)
    }
  }
}
