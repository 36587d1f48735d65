import Glibc

/// The time of day, for events that people compare with logs.
package enum WallClock {
  /// Seconds since 1970.
  package static var seconds: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec))
  }

  /// Now as RFC 3339 has it, in UTC with milliseconds: `2026-11-21T02:03:04.567Z`.
  package static func now() -> String {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    var parts = unsafe tm()
    var seconds = time.tv_sec
    unsafe gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
    let whole = String(decoding: text[..<Int(count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let milliseconds = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
    return "\(whole).\(milliseconds)Z"
  }
}
