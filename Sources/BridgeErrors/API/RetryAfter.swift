#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The `Retry-After` header: seconds, or a date (RFC 9110, 10.2.3).
public enum RetryAfter {
  /// The longest wait that is accepted, in seconds: a day. A longer one counts as this.
  public static let maximum = 86_400

  /// How many seconds to wait from `now`, between 0 and `maximum`; nil where the header says
  /// neither a number nor a date.
  public static func seconds(from header: String, now: Date) -> Int? {
    let value = header.trimmed
    guard !value.isEmpty, value.utf8.count <= 64 else { return nil }
    if value.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) {
      return min(Int(value) ?? maximum, maximum)
    }
    guard let date = HTTPDate.parse(value, now: now) else { return nil }
    let wait = date.timeIntervalSince(now).rounded(.up)
    return Int(min(max(wait, 0), Double(maximum)))
  }
}

/// The three forms of a date in HTTP (RFC 9110, 5.6.7), read without a locale.
enum HTTPDate {
  static func parse(_ text: String, now: Date) -> Date? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "," })
    switch parts.count {
    case 6:  // Sun, 06 Nov 1994 08:49:37 GMT
      guard parts[5] == "GMT" else { return nil }
      return date(day: parts[1], month: parts[2], year: Int(parts[3]), time: parts[4])
    case 5:  // Sun Nov  6 08:49:37 1994
      return date(day: parts[2], month: parts[1], year: Int(parts[4]), time: parts[3])
    case 4:  // Sunday, 06-Nov-94 08:49:37 GMT
      let fields = parts[1].split(separator: "-")
      guard parts[3] == "GMT", fields.count == 3 else { return nil }
      let year = Int(fields[2]).map { expand(twoDigits: $0, now: now) }
      return date(day: fields[0], month: fields[1], year: year, time: parts[2])
    default:
      return nil
    }
  }

  /// A year of two digits that looks more than 50 years ahead means the past (RFC 9110, 5.6.7).
  private static func expand(twoDigits: Int, now: Date) -> Int {
    let thisYear = calendar.component(.year, from: now)
    let year = thisYear / 100 * 100 + twoDigits
    return year > thisYear + 50 ? year - 100 : year
  }

  private static func date(
    day: Substring, month: Substring, year: Int?, time: Substring
  ) -> Date? {
    let clock = time.split(separator: ":").compactMap { Int($0) }
    guard let day = Int(day), let month = months.firstIndex(of: String(month)), let year,
      clock.count == 3, (1...31).contains(day), (1900...9999).contains(year),
      (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
    else { return nil }
    return calendar.date(
      from: DateComponents(
        year: year, month: month + 1, day: day, hour: clock[0], minute: clock[1],
        second: clock[2]))
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  private static var calendar: Calendar {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }
}
