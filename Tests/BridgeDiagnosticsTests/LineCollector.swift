import Logging

/// A log line as a handler gets it.
struct Line: Sendable {
  var level: Logger.Level
  var text: String
  var metadata: [String: String]
  var file: String
  var function: String
  var line: UInt

  /// Everything that a log file would hold of it.
  var whole: String { text + metadata.map { " \($0.key)=\($0.value)" }.joined() }
}

/// The lines that `body` logs, from debug up.
func lines(of body: (Logger) async -> Void) async -> [Line] {
  let (stream, continuation) = AsyncStream.makeStream(of: Line.self)
  await body(Logger(label: "test") { _ in StreamHandler(lines: continuation) })
  continuation.finish()
  var lines: [Line] = []
  for await line in stream { lines.append(line) }
  return lines
}

private struct StreamHandler: LogHandler {
  let lines: AsyncStream<Line>.Continuation
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.debug

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    lines.yield(
      Line(
        level: event.level, text: event.message.description,
        metadata: (event.metadata ?? [:]).mapValues(\.description), file: event.file,
        function: event.function, line: event.line))
  }
}
