import Foundation

/// What the process has open, as the kernel tells it (proc(5)).
enum Kernel {
  /// The sockets that are open.
  static func sockets() -> Int {
    targets().count { $0.hasPrefix("socket:") }
  }

  /// The descriptors that are open, but for those of the timers with which the test library limits
  /// a test's time: they come when they please.
  static func descriptors() -> Int {
    targets().count { !isTimer($0) }
  }

  private static func isTimer(_ target: String) -> Bool {
    target.hasPrefix("anon_inode:[timerfd]")
  }

  private static func targets() -> [String] {
    let folder = "/proc/self/fd"
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    // The one that listed the folder is closed by now and leads nowhere.
    return entries.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
  }

  /// Threads of this process by this name.
  static func threads(named name: String) -> Int {
    let folder = "/proc/self/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return threads.count { thread in
      let comm = try? String(contentsOfFile: "\(folder)/\(thread)/comm", encoding: .utf8)
      return comm == name + "\n"
    }
  }

  /// Lets this process open descriptors again: a leak check at its end does.
  static func giveDescriptorsBack() { limitDescriptors { $0 } }

  /// The clocks of this process's timers: proc_pid_fdinfo(5).
  private static var timerClocks: Set<Int32> {
    let folder = "/proc/self/fdinfo"
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return Set(
      entries.compactMap { entry in
        let text = try? String(contentsOfFile: "\(folder)/\(entry)", encoding: .utf8)
        return text?.firstMatch(of: /clockid: ([0-9]+)/).flatMap { Int32($0.output.1) }
      })
  }

  private static func limitDescriptors(_ choose: (_ most: rlim_t) -> rlim_t) {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = choose(limit.rlim_max)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Lets this process open no descriptor more.
  ///
  /// The test library has timers, and so has `eventually`, each of another clock. The first one of
  /// a clock opens a descriptor, and ends a process that has none left: those are made before.
  static func useUpDescriptors() async {
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + .seconds(3600))
    timer.resume()
    // A timer that is due before it is seen opens none.
    while !timerClocks.isSuperset(of: [CLOCK_MONOTONIC, CLOCK_BOOTTIME]) {
      try? await ContinuousClock().sleep(for: .milliseconds(5))
    }
    timer.cancel()
    // Below all that are open but the standard streams: a descriptor that another test closes is of
    // no use either.
    limitDescriptors { _ in 3 }
  }
}
