/// How far a copy is, as a person reads it. Without a clock: the caller says when.
package struct CopyProgress: Sendable, Equatable {
  /// Files in place.
  package var files = 0
  /// Bytes written, of the file under way too.
  package var bytes = 0
  /// How many there are; nil where that is not known.
  package var totalFiles: Int?
  package var totalBytes: Int?
  /// Bytes a second, lately; nil at the beginning.
  package var rate: Int?
  /// Whether the link does not answer, or is down.
  package var isWaiting = false

  /// Nothing yet.
  package init() {}

  /// Seconds until the end at this rate.
  package var secondsLeft: Int? {
    guard let totalBytes, let rate, rate > 0 else { return nil }
    return (max(0, totalBytes - bytes) + rate - 1) / rate
  }

  /// One line: share, bytes, rate, time left.
  package var text: String {
    var parts: [String] = []
    if let totalBytes, totalBytes > 0 { parts.append("\(min(100, bytes * 100 / totalBytes))%") }
    let total = totalBytes.map { " of \(Self.size($0))" } ?? ""
    parts.append("\(Self.size(bytes))\(total)")
    if let totalFiles, totalFiles != 1 { parts.append("\(files) of \(totalFiles) files") }
    if isWaiting, (rate ?? 0) == 0 {
      return (parts + ["waiting for the link"]).joined(separator: "  ")
    }
    if let rate { parts.append("\(Self.size(rate))/s") }
    if let secondsLeft { parts.append("\(Self.time(secondsLeft)) left") }
    return parts.joined(separator: "  ")
  }

  /// A number of bytes in binary units, with one digit after the point.
  package static func size(_ bytes: Int) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
    guard bytes >= 1024 else { return "\(bytes) B" }
    var (tenths, unit) = (bytes / 1024 * 10 + bytes % 1024 * 10 / 1024, 0)
    while tenths >= 10_240, unit < units.count - 1 {
      tenths /= 1024
      unit += 1
      if tenths < 10_240 { tenths = Self.tenths(bytes, unit: unit) }
    }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  private static func tenths(_ bytes: Int, unit: Int) -> Int {
    let size = 1 << (10 * (unit + 1))
    return bytes / size * 10 + (bytes % size) / (size / 1024) * 10 / 1024
  }

  /// Hours, minutes and seconds.
  package static func time(_ seconds: Int) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    let rest = seconds % 60 < 10 ? "0\(seconds % 60)" : "\(seconds % 60)"
    guard hours > 0 else { return "\(minutes):\(rest)" }
    return "\(hours):\(minutes < 10 ? "0" : "")\(minutes):\(rest)"
  }
}

/// The rate of the last seconds, from what was there when.
package struct CopyRate: Sendable {
  private var samples: [(time: Duration, bytes: Int)] = []
  private static let span = Duration.seconds(5)

  package init() {}

  /// So many bytes were there at a time; returns bytes a second, nil where it is too early for it.
  package mutating func add(_ bytes: Int, at time: Duration) -> Int? {
    samples.append((time, bytes))
    samples.removeAll { time - $0.time > Self.span }
    guard let first = samples.first, time - first.time >= .milliseconds(500) else { return nil }
    let milliseconds = Int((time - first.time) / .milliseconds(1))
    return max(0, bytes - first.bytes) / milliseconds * 1000
      + max(0, bytes - first.bytes) % milliseconds * 1000 / milliseconds
  }
}
