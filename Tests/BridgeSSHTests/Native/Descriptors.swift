import Foundation
import Glibc

/// The descriptors of this process, for tests in processes of their own.
enum Descriptors {
  /// Takes all there are.
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
    limit.rlim_cur = 256
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    while dup(0) >= 0 {}
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
