package import BridgeErrors
import BridgeFiles
import BridgeSession
package import BridgeSessionProtocol
import BridgeTerminal

// What can be known of the sources before anything is dialed.
extension CopyRequest {
  /// The sources, looked at here.
  package struct Survey: Sendable, Equatable {
    /// One that can be copied.
    package struct Ready: Sendable, Equatable {
      package let place: CopyPlace
      /// The length of a file here; nil for what is not known.
      package let size: UInt64?
    }

    /// One that cannot.
    package struct Faulty: Sendable, Equatable {
      package let place: CopyPlace
      package let fault: FileFault
    }

    /// Both in the order in which they were typed.
    package var ready: [Ready] = []
    package var faulty: [Faulty] = []
  }

  /// Looks at the sources that are here, and at the names of those that are not.
  package func survey() -> Survey {
    var survey = Survey()
    for place in sources {
      do throws(FileFault) {
        survey.ready.append(.init(place: place, size: try size(of: place)))
      } catch {
        survey.faulty.append(.init(place: place, fault: error))
      }
    }
    return survey
  }

  /// The length of a file here; nil for a directory that is copied with what is in it.
  private func size(of place: CopyPlace) throws(FileFault) -> UInt64? {
    guard isPattern(place) || !place.isTooLong else {
      throw FileFault(.unreadable, FileFault.nameTooLong)
    }
    guard role == .put else { return nil }
    let status: FileStatus
    do throws(SystemFailure) {
      status = try OpenFile.status(named: place.path)
    } catch {
      throw error.ofSource
    }
    switch status.kind {
    case .file: return status.size
    case .directory where isRecursive: return nil
    case .directory: throw FileFault(.needsRecursion)
    case .link, .special: throw FileFault(.special)
    }
  }

  /// Makes sure that there is something to copy, and a place for several.
  ///
  /// - Throws: `fileNotFound`, `fileReadError` or `filePermissionDenied` where no source can be
  ///   copied; `fileWriteError`.
  package func check(_ survey: Survey) throws(AppError) {
    if let first = survey.faulty.first, survey.ready.isEmpty {
      throw error(of: first, beside: survey.faulty.dropFirst())
    }
    guard !destination.isTooLong else {
      throw .fileWriteError(
        path: PeerText.escaped(destination.text, limit: 1024), reason: FileFault.nameTooLong)
    }
    if isSeveral(sources) { try checkDestination() }
  }

  /// The error of a source that cannot be copied.
  package func error(of faulty: Survey.Faulty) -> AppError { error(of: faulty, beside: []) }

  /// The same where no other source can be either: all are named.
  private func error(
    of first: Survey.Faulty, beside others: ArraySlice<Survey.Faulty>
  ) -> AppError {
    let path = PeerText.escaped(first.place.text, limit: 1024)
    guard !others.isEmpty else {
      return FileFailure.error(first.fault, path: path, isTarget: false, host: host)
    }
    var reasons = [FileFailure.reason(first.fault, host: host)]
    for other in others.prefix(Self.named) { reasons.append(words(of: other)) }
    if others.count > Self.named { reasons.append("\(others.count - Self.named) more") }
    return .fileReadError(path: path, reason: reasons.joined(separator: "; "))
  }

  /// How many are named beside the first one.
  private static var named: Int { 8 }

  /// A source that cannot be copied, and why.
  package func words(of faulty: Survey.Faulty) -> String {
    let place = PeerText.escaped(faulty.place.text, limit: 1024)
    return "\(place): \(PeerText.escaped(FileFailure.reason(faulty.fault, host: host)))"
  }
}
