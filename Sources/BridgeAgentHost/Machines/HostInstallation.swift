/// Whether a machine is given the `bridge-host` that its durable sessions need.
public enum HostInstallation: Sendable, Equatable {
  /// What is there is used.
  case never
  /// The program at this path of this machine is copied to where `bridgectl install` puts it, where
  /// the machine has none; one that is there stays, of whatever version, for sessions of other
  /// programs may depend on it.
  case ifMissing(String)
}
