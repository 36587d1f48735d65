import BridgeErrors
import BridgeReactor
import Testing

@Suite struct DialFailureTests {
  /// errno, whether an interface is up, what it means (errno(3)).
  @Test(
    arguments: [
      (111, true, .failed(errno: 111)), (111, false, .failed(errno: 111)),
      (110, true, .failed(errno: 110)), (110, false, .failed(errno: 110)),
      (24, true, .failed(errno: 24)), (23, false, .failed(errno: 23)),
      (12, true, .failed(errno: 12)),
      (113, true, .failed(errno: 113)), (113, false, .offline),
      (101, true, .failed(errno: 101)), (101, false, .offline),
      (99, true, .failed(errno: 99)), (99, false, .offline),
      (100, true, .offline), (100, false, .offline),
    ] as [(Int32, Bool, DialFailure.Cause)])
  func anErrorOfADialMeans(errno: Int32, isUp: Bool, cause: DialFailure.Cause) {
    let failure = DialFailure.dial(errno: errno) { isUp }
    #expect(failure == DialFailure(phase: .dial, cause: cause, nativeCode: Int(errno)))
  }

  /// libuv's status, what the process is short of, what it means (uv/errno.h).
  @Test(
    arguments: [
      (-3008, nil, .nameUnknown), (-3007, nil, .nameUnknown), (-36, nil, .nameUnknown),
      (-22, nil, .nameUnknown),
      (-3001, nil, .nameTimeout), (-3004, nil, .nameTimeout), (-3003, nil, .nameTimeout),
      (-3000, nil, .nameTimeout), (-125, nil, .nameTimeout), (-5, nil, .nameTimeout),
      (-3006, nil, .failed(errno: 12)), (-12, nil, .failed(errno: 12)),
      (-24, nil, .failed(errno: 24)), (-23, nil, .failed(errno: 23)),
      (-3008, 24, .failed(errno: 24)), (-3001, 23, .failed(errno: 23)),
    ] as [(Int32, Int32?, DialFailure.Cause)])
  func aFailureOfALookupMeans(status: Int32, shortage: Int32?, cause: DialFailure.Cause) {
    let failure = DialFailure.lookup(status) { shortage }
    #expect(failure == DialFailure(phase: .resolve, cause: cause, nativeCode: Int(status)))
  }
}
