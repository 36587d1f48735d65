import Glibc

/// Descriptors that are left free: with none the runtime, which looks at its threads by files,
/// ends the process (libdispatch, `_dispatch_workq_monitor_pools`), and no link is dialed again.
enum DescriptorReserve: UInt64 {
  /// What links leave to the runtime.
  case runtime = 4
  /// What forwarded connections leave to links.
  case links = 16

  /// Whether it is untouched where `descriptor`, the lowest free number, is taken. Of a low limit
  /// it is a part.
  func isKept(taking descriptor: Int32) -> Bool {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return true
    }
    let most = UInt64(limit.rlim_cur)
    let count = min(rawValue, most * rawValue / 64)
    return descriptor < 0 || UInt64(descriptor) + count < most
  }
}
