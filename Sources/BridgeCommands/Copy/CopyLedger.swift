package import BridgeErrors
package import BridgeFiles
package import BridgeTransport

/// What came of the entries of a copy.
package struct CopyLedger: Sendable {
  /// Files in place.
  package var copied = 0
  /// Of those, files that were not compared, for lack of a tool on the host.
  package var unverified = 0
  /// Entries that are not.
  package private(set) var failed = 0
  /// Why the first one is not.
  package private(set) var first: AppError?

  package init() {}

  /// An entry is not copied.
  package mutating func fail(_ error: AppError) {
    failed += 1
    if first == nil { first = error }
  }

  /// What a host cannot do that copies with its own tools.
  ///
  /// - Parameter target: the host as a command line names it.
  package static func limits(
    _ host: String, target: String, digests: Bool, times: Bool
  ) -> String {
    var text =
      "\(host) copies with its own tools (`bridgectl install \(target)` puts bridge-host there): "
    text += times ? "times in whole seconds" : "times are not kept"
    if !digests {
      text += ", no tool for SHA-256: nothing is verified, and a file begins again after a break"
    }
    return text + "."
  }

  /// The last line for a person.
  package func summary(_ progress: CopyProgress, after time: Duration) -> String {
    let seconds = max(1, time.milliseconds)
    let rate = progress.bytes / seconds * 1000 + progress.bytes % seconds * 1000 / seconds
    let files = "\(copied) \(copied == 1 ? "file" : "files")"
    let tenths = time.milliseconds / 100
    var text =
      "copied \(files), \(CopyProgress.size(progress.bytes)) in \(tenths / 10).\(tenths % 10) s "
      + "(\(CopyProgress.size(rate))/s)"
    if copied > 0 { text += unverified == 0 ? ", verified" : ", not verified" }
    if failed > 0 { text += "; \(failed) not copied" }
    return text + "."
  }
}

/// Whether another channel is worth it: one that ends although the link goes on has to have brought
/// the copy further.
package struct CopyAttempts: Sendable {
  private var idle = 0
  private var last = FileProgress()
  private static let limit = 3

  package init() {}

  /// Whether the copy goes on after a channel that ended so.
  package mutating func goesOn(after ending: ByteChannelEnding, _ progress: FileProgress) -> Bool {
    defer { last = progress }
    switch ending {
    case .lost, .closed: return true
    case .finished:
      idle = progress == last ? idle + 1 : 0
      return idle < Self.limit
    }
  }
}
