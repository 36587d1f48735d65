import BridgeErrors
package import BridgeSessionProtocol

// Where an entry is, and what is said of it.
extension FileTransfer {
  /// A fault of the end that writes, or of the one that reads, which ends the copy.
  func failure(
    _ fault: FileFault, of path: FilePath = [], isTarget: Bool
  ) -> AppError {
    let place = place(of: path, isTarget: isTarget)
    ended = (fault, place)
    // Either end of any version reports a missing directory as what is in the way of one file.
    let mayBeMissing = job.isInto && !job.hasDirectory && isTarget
    guard mayBeMissing, [.notDirectory, .unwritable].contains(fault.code) else {
      return FileFailure.error(fault, path: place, isTarget: isTarget, host: host)
    }
    let reason = FileFailure.reason(fault, host: host)
    return .fileWriteError(path: place, reason: "\(reason); \(FileFailure.needsDirectory)")
  }

  /// Another machine answers, or one with another directory, and what was copied is not there.
  var elsewhere: AppError {
    let isTarget = job.role == .put
    let place = place(of: [], isTarget: isTarget)
    let reason = job.stripe == nil ? FileFailure.elsewhere : FileFailure.apart
    return isTarget
      ? .fileWriteError(path: place, reason: reason) : .fileReadError(path: place, reason: reason)
  }

  private func place(of path: FilePath, isTarget: Bool) -> String {
    Self.place(of: path, isTarget: isTarget, job: job, host: host, isInside: isInside ?? false)
  }

  /// Where an entry is, on which machine.
  package static func place(
    of path: FilePath, isTarget: Bool, job: Job, host: String, isInside: Bool
  ) -> String {
    let isRemote = isTarget == (job.role == .put)
    var place = String(decoding: isRemote ? job.remote : job.local, as: UTF8.self)
    let name = isTarget && isInside ? job.name.map { [$0] } ?? [] : []
    let below = name + path
    if !below.isEmpty {
      place += (place.hasSuffix("/") ? "" : "/") + String(decoding: below.joined, as: UTF8.self)
    }
    return isRemote ? "\(host):\(place)" : place
  }
}
