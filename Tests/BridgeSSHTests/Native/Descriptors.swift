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
    // Below all that are open but the standard streams: a descriptor that another test closes is of
    // no use either.
    setLimit { _ in 3 }
  }

  /// Lets this process open some again: a leak check at its end does.
  static func giveBack() { setLimit { $0 } }

  private static func setLimit(_ choose: (_ most: rlim_t) -> rlim_t) {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = choose(limit.rlim_max)
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
