/// A host, the way to it and the machine in front of it, as a user somewhere has them.
///
/// A declaration: `RunningWorld` starts it, with real programs in namespaces of their own, and
/// leaves nothing behind.
package struct World: Sendable {
  /// Its name in the table of docs/field.md.
  package let name: String
  /// What is special about it, in a few words.
  package let summary: String
  /// The SSH server.
  package var server = Server.openSSH(.usual)
  /// Text that the server sends before its version line (RFC 4253, 4.2).
  package var greeting: String?
  /// Whether `bridge-host` is there.
  package var hasBridgeHost = true
  /// The home directory of the user.
  package var home = Home.usual
  /// What the kernel refuses there.
  package var refused: Set<SystemCall> = []
  /// The login shell.
  package var shell = "/bin/bash"
  /// A start-up file that every bash reads: of a login, of a command.
  package var startup: String?
  /// The way there.
  package var network = Network()
  /// The machine of the client.
  package var machine = Machine.idle

  /// A world that is as usual until a property is set.
  package init(_ name: String, _ summary: String, _ change: (inout World) -> Void = { _ in }) {
    self.name = name
    self.summary = summary
    change(&self)
  }

  /// The SSH server.
  package enum Server: Sendable {
    /// sshd of this machine.
    case openSSH(SSHServerConfiguration)
    /// dropbear, run by root.
    case dropbear
  }

  /// The home directory of the user.
  package enum Home: String, Sendable {
    /// On the local disk, with space, the user's own.
    case usual
    /// On a disk that takes no change.
    case readOnly
    /// On a disk of 4 MiB without a free byte.
    case full
    /// On a disk that executes nothing.
    case noExec
    /// Another user's, 0711.
    case enterOnly
  }

  /// What network disks do not have.
  package enum SystemCall: String, Sendable {
    /// renameat2(2) with flags.
    case renames
    /// Locks of fcntl(2) and flock(2).
    case locks
  }

  /// The way to the server.
  package struct Network: Sendable {
    /// How long a byte is on its way, in each direction.
    package var delay: Duration?
    /// At most so many bytes a second, in each direction.
    package var bytesPerSecond: Int?
    /// The share of packets that is lost.
    package var loss: Double?
    /// The time between resets of all connections; nil for none.
    package var resetEvery: Duration?
    /// What happens to its connections in an outage.
    package var outage = Outage.reset
    /// A queueing discipline of the kernel (tc(8)) that stands for all of these.
    package var discipline: String?
  }

  /// The break of a link.
  package enum Outage: Sendable {
    /// RST; the next connection is made at once.
    case reset
    /// Nothing comes through, in old connections and new ones, for so long.
    case darkness(Duration)
    /// RST, and new connections are refused for so long.
    case refusal(Duration)
  }

  /// The machine of the client.
  package enum Machine: Sendable {
    /// It has nothing else to do.
    case idle
    /// More programs than cores compute, all the time.
    case busy
    /// The client may have so many descriptors.
    case descriptors(Int)
    /// The client's tasks share one thread.
    case oneThread
  }
}

extension SSHServerConfiguration {
  /// As an administrator would leave it: the limits are those of sshd itself.
  package static let usual = with { _ in }

  /// The same with a change.
  package static func with(
    _ change: (inout SSHServerConfiguration) -> Void
  ) -> SSHServerConfiguration {
    var configuration = SSHServerConfiguration()
    configuration.maxStartups = nil
    configuration.maxSessions = nil
    change(&configuration)
    return configuration
  }
}
