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
    let place = PartOwner.Place(
      PartNames(name, of: transfer), of: striping.stripe.count, in: target.directory)
    joined &+= 1
    let stamp = FileHash.digest(of: striping.salt.bytes + Array("\(joined)".utf8)).prefix(16)
    let owner = try PartOwner.join(
      striping.run, at: place, stamp: Array(stamp), displace: displace)
    self.owner = owner
    // What was written before another run had the part is not there any more.
    if let known = lastStamp, known != owner.stamp {
      guard after == nil else { throw FileFault(.busy) }
      part = nil
    }
    lastStamp = owner.stamp
  }

  /// All of a stream is there only where no other run wrote the part since.
  func verifyRun(_ claim: FilePoint) throws(FileFault) {
    guard striping == nil || claim.after == nil || claim.boot == origin else {
      throw FileFault(.busy)
    }
  }

  /// The boot of the receiver's machine, and who writes the part.
  package var origin: [UInt8] { boot + (owner?.stamp ?? []) }

  /// What of this stream's bytes is there: as far as it was acknowledged, or as an earlier run left
  /// it, whose bytes are compared.
  func findStripe(_ claimed: FilePoint.Part, isKnown: Bool, _ stripe: FileStripe) {
    guard let file = owner?.part else { return }
    if isKnown, claimed.offset > 0, file.holds(claimed.offset, of: stripe) {
      part = claimed
    } else if let count = try? file.written(of: stripe),
      let hash = try? FileHash(of: file, count: count, stripe, key: key)
    {
      part = .init(path: claimed.path, offset: hash.count, state: hash.state)
    }
  }

  /// The part that all streams write.
  func openStripe(_ start: FileStart, _ stripe: FileStripe) throws(SystemFailure) -> OpenFile {
    guard let part = owner?.part, start.offset == 0 || part.holds(start.offset, of: stripe) else {
      throw .missing
    }
    owner?.begin()
    return part
  }

  /// Ends the stream's part in its run. One that is whole keeps it until `release`: no other run
  /// takes the part over before the file has its name.
  func endStream() {
    if isSpoiled { owner?.giveUp() }
    guard isSpoiled || !isFinished else { return }
    release()
  }

  /// The file has its name, or will not get one in this run.
  package func release() {
    owner?.end()
    owner = nil
  }
}

extension OpenFile {
  /// Whether it is long enough for so many bytes of a stream, which are at least one.
  func holds(_ count: UInt64, of stripe: FileStripe) -> Bool {
    guard count > 0, let size = try? status().size else { return false }
    return size > stripe.position(of: count - 1)
  }

  /// How many bytes of a stream are there, as far as the holes of the part say: a multiple of
  /// `FileLimits.unit`. What they say may be too much; nothing relies on it but what to compare.
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
      return count + (filled - min(filled, UInt64(FileLimits.data))) / FileLimits.unit
        * FileLimits.unit
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
