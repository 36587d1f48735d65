package import BridgeSessionProtocol
import Glibc

extension FileMeta {
  /// The time of the last change for touch(1), in UTC: year to minute, a point, seconds. Years
  /// before 1 and after 9999, which it cannot say, become these.
  package var touchTime: String {
    var seconds = time_t(min(max(seconds, -62_135_596_800), 253_402_300_799))
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let year = String(unsafe 10_000 + parts.tm_year + 1900).dropFirst()
    let rest = unsafe [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min]
    return unsafe year + rest.map(Self.padded).joined() + "." + Self.padded(parts.tm_sec)
  }

  private static func padded(_ number: Int32) -> String { String(String(100 + number).dropFirst()) }
}
