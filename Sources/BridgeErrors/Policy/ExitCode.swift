/// How a process ends. The numbers up to 78 are those of sysexits.h, 124 and 128+n those of shells.
public struct ExitCode: RawRepresentable, Sendable, Hashable {
  /// The number, 0…255.
  public let rawValue: Int32

  /// The code with this number.
  public init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  /// Nothing went wrong.
  public static let success = Self(rawValue: 0)
  /// The command line or an argument makes no sense.
  public static let usage = Self(rawValue: 64)
  /// A user key or the agent cannot be used.
  public static let keyUnusable = Self(rawValue: 65)
  /// A file is missing or unreadable.
  public static let fileMissing = Self(rawValue: 66)
  /// The name of the host cannot be resolved.
  public static let nameUnknown = Self(rawValue: 68)
  /// The host is unreachable, or the connection was lost.
  public static let unreachable = Self(rawValue: 69)
  /// A fault of ours.
  public static let internalFault = Self(rawValue: 70)
  /// A file or a place for it cannot be written.
  public static let fileNotWritable = Self(rawValue: 73)
  /// The command may or may not have run.
  public static let outcomeUnknown = Self(rawValue: 74)
  /// The peer or this machine has no capacity now.
  public static let busy = Self(rawValue: 75)
  /// The peer does not speak the protocol, or broke it.
  public static let protocolBroken = Self(rawValue: 76)
  /// Authentication or authorization was refused.
  public static let refused = Self(rawValue: 77)
  /// The configuration does not allow it.
  public static let configuration = Self(rawValue: 78)
  /// The host's identity is wrong or not verified.
  public static let hostIdentity = Self(rawValue: 79)
  /// No answer came in time.
  public static let timedOut = Self(rawValue: 124)
  /// Canceled, as by Ctrl-C.
  public static let interrupted = Self(rawValue: 130)

  /// The code that passes on a remote exit status, 1…255.
  public init(remoteStatus: Int) {
    rawValue = Int32(clamping: min(max(remoteStatus, 1), 255))
  }
}
