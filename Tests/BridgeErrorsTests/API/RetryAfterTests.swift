import BridgeErrors
import Foundation
import Testing

@Suite struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110.
  static let date = Date(timeIntervalSince1970: 784_111_777)

  @Test(arguments: [
    ("0", 0), ("17", 17), (" 17 ", 17), ("86400", 86_400), ("86401", 86_400),
    ("99999999999999999999999", 86_400),
  ])
  func secondsAreTakenUpToADay(header: String, seconds: Int) {
    #expect(RetryAfter.seconds(from: header, now: Self.date) == seconds)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func allThreeDateFormsAreRead(header: String) {
    let before = Self.date.addingTimeInterval(-90.5)
    #expect(RetryAfter.seconds(from: header, now: before) == 91)
    #expect(RetryAfter.seconds(from: header, now: Self.date) == 0)
    #expect(RetryAfter.seconds(from: header, now: Self.date.addingTimeInterval(60)) == 0)
    #expect(RetryAfter.seconds(from: header, now: Self.date.addingTimeInterval(-1e7)) == 86_400)
  }

  @Test func aYearOfTwoDigitsFarAheadIsPast() {
    let header = "Sunday, 06-Nov-94 08:49:37 GMT"
    let now = Date(timeIntervalSince1970: 1_760_000_000)
    #expect(RetryAfter.seconds(from: header, now: now) == 0)
  }

  @Test(
    arguments: [
      "", "   ", "-1", "1.5", "soon", "17s", "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT",
      "Sunday, 06-Nov 08:49:37 GMT", "Sunday, 06-Nov-xx 08:49:37 GMT",
      String(repeating: "9", count: 65),
    ])
  func anythingElseSaysNothing(header: String) {
    #expect(RetryAfter.seconds(from: header, now: Self.date) == nil)
  }
}
