package import BridgeErrors

/// What the server said before, with and right after its version line: what libssh2 sees and
/// does not tell.
package struct ServerIdentification {
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

  /// False when there is no point in reading on.
  package mutating func see(_ bytes: Span<UInt8>) -> Bool {
    guard greeting.outcome == .needMore else { return hasVersion }
    var read: [UInt8] = []
    for index in bytes.indices { read.append(bytes[index]) }
    switch greeting.feed(read) {
    case .needMore, .version: return true
    case .ssh1, .notSSH, .flood: return false
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
    case .flood:
      .notSSH(
        seen: "more than \(ServerGreeting.byteLimit) bytes before its version line", location: nil)
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
