import CSessionSystem

/// The addresses that the process may have.
package enum AddressSpace {
  /// Where they are limited (getrlimit(2), RLIMIT_AS), has all threads share one arena of malloc:
  /// else each would reserve 64 MiB (mallopt(3), M_ARENA_MAX), and the last ones not be started.
  /// Call it before there are threads.
  package static func spare() {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0,
      limit.rlim_cur != ~0
    else { return }
    _ = mallopt(-8, 1)
  }
}
