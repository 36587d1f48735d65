package import BridgeFiles
package import BridgeSessionProtocol

extension FileTransfer {
  /// What is copied.
  package struct Job: Sendable {
    /// Which end the host is.
    package var role: FileRequest.Role
    /// The path on this machine.
    package var local: [UInt8]
    /// The path on the host: absolute, or from the home directory.
    package var remote: [UInt8]
    /// The name inside of a destination that is a directory; nil for the content of a directory.
    package var name: [UInt8]?
    /// Whether directories are copied.
    package var isRecursive: Bool
    /// What of a tree is left out.
    package var exclusion = FileExclusion.none
    /// The same for every attempt at the same copy, in this run and in later ones.
    package var transfer: Identifier
    /// This run.
    package var run: Identifier
    /// The stream of a file that several carry; nil where one carries all.
    package var stripe: FileStripe?
    /// The key of the check of all bytes; nil for SHA-256.
    package var key: [UInt8]?
    /// How fast it is copied; nil for as fast as it goes.
    package var pace: CopyPace?
    /// Where the host is, the same for all that a run copies; nil where it is not to be asked.
    package var site: CopySite?
    /// Whether the destination has to be a directory that is there: several are copied into it.
    package var isInto = false
    /// Whether another source was copied into it before.
    package var hasDirectory = false

    package init(
      _ role: FileRequest.Role, local: [UInt8], remote: [UInt8], name: [UInt8]?,
      isRecursive: Bool, transfer: Identifier, run: Identifier
    ) {
      self.role = role
      self.local = local
      self.remote = remote
      self.name = name
      self.isRecursive = isRecursive
      self.transfer = transfer
      self.run = run
    }

    /// The run of its channels on the host, where one ends what an earlier one left running.
    var channel: Identifier {
      Identifier(high: run.high, low: run.low &+ UInt64(stripe?.index ?? 0))
    }

    /// The same of what follows its streams, whose channels are still open then.
    var lastChannel: Identifier {
      Identifier(high: run.high, low: run.low &+ UInt64(FileStripe.counts.upperBound))
    }

    /// One stream of it.
    package func stream(_ stripe: FileStripe) -> Job {
      var job = self
      job.stripe = stripe
      return job
    }

    /// What gives the file its name after all of its streams.
    package func join(_ parts: FileParts, isInside: Bool, isRepeated: Bool) -> FileRequest {
      var request = FileRequest(
        .join, path: role == .put ? remote : local, transfer: transfer)
      request.name = name
      request.run = run
      request.stripe = stripe
      var point = FilePoint(boot: parts.origin)
      point.isInside = isInside
      request.point = point
      request.join = FileRequest.Join(
        size: parts.size, meta: parts.meta, isRepeated: isRepeated)
      return request
    }
  }
}
