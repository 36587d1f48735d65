import Foundation
import Glibc

/// The descriptors of this process, for tests in processes of their own.
enum Descriptors {
  /// Lets this process open none more.
  ///
  /// The test library's timers need one; the first of them is made before, or the process ends.
  static func useUp() {
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + .seconds(3600))
    timer.resume()
    while !hasTimer { sched_yield() }
    timer.cancel()
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    // Below all that are open but the standard streams: what somebody closes is of no use either.
    limit.rlim_cur = 3
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  private static var hasTimer: Bool {
    let folder = "/proc/self/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
      return target?.contains("timerfd") == true
    }
  }
}
