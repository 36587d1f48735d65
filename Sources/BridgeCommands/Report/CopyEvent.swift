package import BridgeErrors
import BridgeTerminal

/// Every event of `bridgectl cp`, with its fields (docs/events.md).
package enum CopyEvent: Sendable, Equatable {
  /// A source is copied from here on; `tool` is `bridge-host` or `shell`.
  case started(source: String, destination: String, tool: String)
  /// How far it is, once a second.
  case progress(CopyProgress)
  /// A file goes on at an offset, where a part of it was there; one stream of several at an offset
  /// of its own.
  case continued(path: String, from: Int, stream: Int?)
  /// A file is in place; its SHA-256 is that of both ends. Nil where that is not known of the whole
  /// file: the host has no tool for it, or each of several streams was verified by itself.
  case file(path: String, bytes: Int, sha256: String?, hasChanged: Bool)
  /// An entry is not copied.
  case failed(path: String, AppError)
  /// The copy is over.
  case ended(files: Int, bytes: Int, failed: Int, milliseconds: Int)

  /// The field `event`.
  package var name: String {
    switch self {
    case .started: "copyStarted"
    case .progress: "copyProgress"
    case .continued: "copyContinued"
    case .file: "fileCopied"
    case .failed: "fileFailed"
    case .ended: "copyEnded"
    }
  }

  func add(to line: inout JSONLine) {
    switch self {
    case .started(let source, let destination, let tool):
      line.add("source", PeerText.escaped(source))
      line.add("destination", PeerText.escaped(destination))
      line.add("tool", tool)
    case .progress(let progress):
      line.add("files", progress.files)
      line.add("bytes", progress.bytes)
      line.add("totalFiles", progress.totalFiles)
      line.add("totalBytes", progress.totalBytes)
      line.add("bytesPerSecond", progress.rate)
      line.add("secondsLeft", progress.secondsLeft)
    case .continued(let path, let offset, let stream):
      line.add("path", PeerText.escaped(path))
      line.add("from", offset)
      line.add("stream", stream)
    case .file(let path, let bytes, let digest, let hasChanged):
      line.add("path", PeerText.escaped(path))
      line.add("bytes", bytes)
      line.add("sha256", digest)
      line.add("changed", hasChanged)
    case .failed(let path, let error):
      line.add("path", PeerText.escaped(path))
      line.add("case", error.caseName)
      line.add("message", PeerText.escaped(error.shownMessage()))
    case .ended(let files, let bytes, let failed, let milliseconds):
      line.add("files", files)
      line.add("bytes", bytes)
      line.add("failed", failed)
      line.add("milliseconds", milliseconds)
    }
  }
}
