/// A clock whose instants are times since it was made.
struct HostClock: Sendable {
  /// The time since then.
  let now: @Sendable () -> Duration
  /// Waits; false where the task is canceled.
  let sleep: @Sendable (Duration) async -> Bool
  /// When it was made, in milliseconds since 1970.
  let epoch: Int64

  init<C: Clock>(_ clock: C, epoch: Int64) where C.Duration == Duration {
    self.epoch = epoch
    let begun = clock.now
    now = { begun.duration(to: clock.now) }
    sleep = { (try? await clock.sleep(for: $0)) != nil }
  }
}
