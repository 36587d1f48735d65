import BridgeErrors
import BridgeSSH
import BridgeSession
import BridgeWaiting

/// One of the links of a machine.
struct PooledLink: Sendable {
  let id: ConnectionID
  /// Its connections, one after the other.
  let links = SessionLinks<SSHConnection>()
  /// Open once the supervisor has the link.
  let isAdded = Latch()
  /// The links to the hosts on the way, which it holds.
  var hops: [ConnectionID] = []

  init(id: ConnectionID) { self.id = id }
}
