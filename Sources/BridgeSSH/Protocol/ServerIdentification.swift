package import BridgeErrors

/// What the server said before, with and right after its version line: what libssh2 sees and
/// does not tell.
package struct ServerIdentification {
  /// What of the bytes that came libssh2 gets.
  package enum Passage: Sendable, Equatable {
    /// None, and there is no point in reading on.
    case end
    /// None: they are text before the version line, which the library takes in part only, and not
    /// after an empty line.
    case text
    /// Those from the version line on: so many of the mark at its start, which came before, and of
    /// these all behind the first `skipped`.
    case version(marks: Int, skipped: Int)
  }

  private var greeting = ServerGreeting()

  /// Creates an empty parser.
  package init() {}

  /// Whether the server has said that it speaks SSH 2.
  package var hasVersion: Bool { versionLine != nil }

  /// The version line of a server that speaks SSH 2, escaped and bounded; nil before it came.
  package var versionLine: String? {
    if case .version(let line) = greeting.outcome { line } else { nil }
  }

  /// The text before the version line, raw.
  package var preBanner: String { greeting.preBanner }

  /// Reads what came; returns what of it belongs to the version line or is behind it.
  package mutating func see(_ bytes: Span<UInt8>) -> Passage {
    guard greeting.outcome == .needMore else {
      return hasVersion ? .version(marks: 0, skipped: 0) : .end
    }
    var read: [UInt8] = []
    for index in bytes.indices { read.append(bytes[index]) }
    let (before, hadStart) = (greeting.consumed, greeting.versionStart != nil)
    switch greeting.feed(read) {
    case .needMore, .version:
      guard !hadStart else { return .version(marks: 0, skipped: 0) }
      guard let start = greeting.versionStart else { return .text }
      return .version(marks: max(0, before - start), skipped: max(0, start - before))
    case .ssh1, .notSSH, .tooLong, .flood: return .end
    }
  }

  /// What is known when the handshake has failed with `code`, and `transcript` is all that was
  /// received.
  package func observation(
    code: SSHFailure.Code, transcript: [UInt8], offer: AlgorithmOffer, library: LibraryVersion
  ) -> SSHFailure.Observation? {
    switch greeting.atEnd() {
    case .version where code == .kexFailure: mismatch(transcript, offer: offer, library: library)
    case .notSSH(let firstLine, let location): .notSSH(seen: firstLine, location: location)
    case .ssh1(let line): .notSSH(seen: line, location: nil)
    case .tooLong(let line): .versionLineTooLong(line: line)
    // Of so many lines the first one says most.
    case .flood:
      .notSSH(seen: String(preBanner.prefix { !$0.isNewline }), location: nil)
    case .version, .needMore, nil: nil
    }
  }

  private func mismatch(
    _ transcript: [UInt8], offer: AlgorithmOffer, library: LibraryVersion
  ) -> SSHFailure.Observation? {
    guard case .kexInit(let theirs) = ServerTranscript(transcript) else { return nil }
    let found = AlgorithmMismatch.find(ours: offer, theirs: theirs, library: library)
    guard !found.isEmpty else { return nil }
    return .algorithmMismatch(detail: found.map(\.detail).joined(separator: " "))
  }
}
