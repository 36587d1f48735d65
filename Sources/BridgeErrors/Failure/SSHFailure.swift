/// A failure of the SSH library or of our own SSH connection, with all that is needed to classify
/// it.
///
/// libssh2 1.10 reports one code for many causes, so a code alone never says what happened:
/// `observation` (what we know ourselves), `socket`, `disconnectReason` and `preBanner` are looked
/// at first.
public struct SSHFailure: Error, Sendable, Equatable {
  /// A libssh2 return code, `LIBSSH2_ERROR_…` in libssh2.h: -49…0.
  public struct Code: RawRepresentable, Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The number in libssh2.h.
    public var rawValue: Int

    /// The code with this number.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The code with this number.
    public init(integerLiteral value: Int) {
      rawValue = value
    }
  }

  /// What our own side saw or decided, where that says more than a library code.
  public enum Observation: Sendable, Equatable {
    /// The name does not exist (EAI_NONAME).
    case nameUnknown
    /// The resolver gave no answer in time (EAI_AGAIN, or the deadline of the phase).
    case nameTimeout
    /// No interface is up (ENETDOWN).
    case offline
    /// The phase's total deadline passed and the peer sent nothing that ended it.
    case deadline
    /// Declared dead: no byte was received for so many seconds.
    case silent(seconds: Int)
    /// What came is not SSH: `seen` is its first line, `location` where an HTTP redirect pointed.
    case notSSH(seen: String, location: String?)
    /// Nothing in common of some kind; `detail` names the kind and both lists.
    case algorithmMismatch(detail: String)
    /// The host key is in no known_hosts file; `doubt` names a line there that cannot be read and
    /// may have been about this host.
    case hostKeyUnknown(fingerprint: String, doubt: String? = nil)
    /// The host key differs from the known one of its type; `detail` says which, and `removal` is
    /// the command that removes the known one, where there is one.
    case hostKeyChanged(detail: String, removal: String? = nil)
    /// The host key was revoked; `detail` says where.
    case hostKeyRevoked(detail: String)
    /// The host is known by keys of other types only; `detail` names the key that it shows and the
    /// known types.
    case hostKeyNewType(fingerprint: String, detail: String)
    /// A user key cannot be used; `reason` says why.
    case keyUnusable(reason: String)
    /// ssh-agent is absent or failed.
    case agentUnavailable(reason: String)
    /// SSH_MSG_CHANNEL_OPEN_FAILURE with this reason (RFC 4254, 5.1), for a channel that was to
    /// lead on to a target or for one that ends at the server.
    case channelRefused(reason: Int, hasTarget: Bool = true)
    /// The link went before an exit status came.
    case noExitStatus(command: String)
    /// The server closed the channel without an exit status, on a link that stays.
    case closedWithoutStatus(command: String)
    /// The link was lost after the server had reported how the command ended (`ending`, for
    /// instance "exit status 0") and before all of its output came.
    case outputCut(command: String, ending: String)
    /// Some of a channel's output never reached its reader, because the server broke the rules of
    /// its window or its packets (RFC 4254, 5.2); `detail` says how much.
    case outputLost(detail: String)
    /// The version line is longer than SSH allows (RFC 4253, 4.2); how it begins.
    case versionLineTooLong(line: String)
    /// The caller canceled.
    case cancelled
  }

  /// The library's return code, 0 where the library reported none.
  public var code: Code
  /// The library's or the peer's text, raw: escape it before it is shown.
  public var message: String
  /// The phase the connection was in.
  public var phase: ConnectionPhase
  /// The host as the user named it.
  public var host: String
  /// The name or address that was dialed, where that is another one.
  public var address: String?
  /// The TCP port.
  public var port: Int?
  /// The observation of this side.
  public var observation: Observation?
  /// What our own socket saw last.
  public var socket: SocketCondition
  /// The reason of an SSH_MSG_DISCONNECT, where one came (RFC 4253, 11.1).
  public var disconnectReason: Int?
  /// The server's text before its version line, raw.
  public var preBanner: String
  /// The authentication method in use.
  public var method: String
  /// The methods that the server takes, separated by commas and escaped; nil where it did not say.
  public var acceptedMethods: String?
  /// The configured timeout of the phase, in whole seconds.
  public var timeout: Int
  /// The time that the server had, exactly, where that is known.
  public var limit: Duration?
  /// The user that logs in; empty where none is known.
  public var user: String
  /// What became of the ProxyCommand that the connection ended with: how it ended and its last
  /// words, raw, or that it runs and brought nothing. Nil without one.
  public var proxyEnding: String?

  /// A failure with `code` in `phase` at `host`.
  public init(
    code: Code, message: String, phase: ConnectionPhase = .stream, host: String = "",
    address: String? = nil, port: Int? = nil, observation: Observation? = nil,
    socket: SocketCondition = .open,
    disconnectReason: Int? = nil, preBanner: String = "", method: String = "password",
    timeout: Int = 30, user: String = "", proxyEnding: String? = nil
  ) {
    self.code = code
    self.message = message
    self.phase = phase
    self.host = host
    self.address = address
    self.port = port
    self.observation = observation
    self.socket = socket
    self.disconnectReason = disconnectReason
    self.preBanner = preBanner
    self.method = method
    self.timeout = timeout
    self.user = user
    self.proxyEnding = proxyEnding
  }
}
