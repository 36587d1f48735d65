import Foundation

/// What the process has open, as the kernel tells it (proc(5)).
enum Kernel {
  /// Descriptors that are open, without the one that looks.
  static func descriptors() -> Int {
    let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return (entries?.count ?? 0) - 1
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

  /// Lets this process open no descriptor more.
  static func useUpDescriptors() {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = 256
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    while dup(0) >= 0 {}
  }
}
