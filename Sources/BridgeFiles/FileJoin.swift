package import BridgeSessionProtocol

/// Gives a file its name whose bytes came in several streams, each verified by its SHA-256: where
/// no other run wrote the part since, and it has its length.
package struct FileJoin {
  private let request: FileRequest
  private let stripe: FileStripe
  private let run: Identifier
  private let join: FileRequest.Join
  private let boot: [UInt8]

  /// Nil where `request` asks for something else.
  ///
  /// - Parameter boot: of this machine, as the receivers of the streams had it.
  package init?(_ request: FileRequest, boot: [UInt8] = []) {
    guard let stripe = request.stripe, let run = request.run, let join = request.join else {
      return nil
    }
    self.request = request
    self.boot = boot
    (self.stripe, self.run, self.join) = (stripe, run, join)
  }

  /// Does it; safe to do again where `isRepeated` says so.
  ///
  /// - Throws: `busy` where another run took the part over, `mismatch` where it is too short; what
  ///   keeps the file from getting its name.
  package func perform() throws(FileFault) {
    let target = try FileTarget(
      request.path, name: request.name, isInside: request.point?.isInside, isRecursive: false)
    guard let name = target.name else { throw FileFault(.isDirectory) }
    let directory = target.directory
    let names = PartNames(name, of: request.transfer)
    let place = PartOwner.Place(names, of: stripe.count, in: directory)
    guard let owner = PartOwner.find(run, at: place) else {
      guard (try? directory.status(of: place.part)) == nil else { throw FileFault(.busy) }
      guard join.isRepeated, isThere(name, in: directory) else {
        throw FileFault(.unwritable, "what was copied of it is not there any more")
      }
      // The host ended between its last two steps.
      PartOwner.clear(place)
      return
    }
    guard request.point?.boot == boot + owner.stamp else { throw FileFault(.busy) }
    do throws(FileFault) {
      try complete(owner, place, name)
    } catch {
      // As a stream that cannot be completed.
      owner.giveUp()
      owner.end()
      throw error
    }
    owner.complete()
    names.removeOthers(than: stripe.count, in: directory)
  }

  private func complete(
    _ owner: PartOwner, _ place: PartOwner.Place, _ name: [UInt8]
  ) throws(FileFault) {
    try place.directory.requireReplaceable(name)
    do throws(SystemFailure) {
      guard try owner.part.status().size >= join.size else { throw SystemFailure.short }
      // An earlier run may have copied more.
      try owner.part.truncate(to: join.size)
      owner.part.takeOwner(of: name, in: place.directory)
      try owner.part.set(join.meta)
      try place.directory.rename(place.part, to: name)
    } catch {
      throw error == .short ? FileFault(.mismatch) : error.ofTarget
    }
  }

  /// Whether the answer to the first request was lost, not the request.
  private func isThere(_ name: [UInt8], in directory: OpenFile) -> Bool {
    guard let status = try? directory.status(of: name) else { return false }
    return status.kind == .file && status.size == join.size && status.meta == join.meta
  }
}

extension SystemFailure {
  /// A file has fewer bytes than it should.
  fileprivate static let short = SystemFailure(61)
}
