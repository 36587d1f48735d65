import CLibUV

/// The processors of this machine.
enum Processors {
  /// How many this process may use at once, its affinity mask respected; at least one.
  static var count: Int { Int(uv_available_parallelism()) }
}
