/// The bounds of protocol version 1. Sizes are in bytes, times in milliseconds.
public enum Limits {
  /// Protocol versions this code speaks, newest first.
  public static let versions: [UInt8] = [1]
  /// The length of a frame's header.
  public static let headerLength = 16
  /// The longest payload of an output or input frame, and of a frame that is skipped.
  public static let payload: UInt32 = 1 << 20
  /// The longest payload of hello, welcome and status.
  public static let handshake: UInt32 = 64 << 10
  /// The longest payload of start: a command and an environment.
  public static let start: UInt32 = 256 << 10
  /// The longest payload of refused and notice.
  public static let text: UInt32 = 1 << 10
  /// Key-value pairs in one payload.
  public static let fields = 1024
  /// The first offset that is refused.
  public static let offset: UInt64 = 1 << 63
  /// Unacknowledged bytes each way; of output where hello names no other window.
  public static let window: UInt64 = 1 << 20
  /// The window of output that a client's hello names.
  public static let outputWindow: UInt64 = 4 << 20
  /// The largest window of output that a host makes use of.
  public static let largestWindow: UInt64 = 64 << 20
  /// Unacknowledged bytes after which an acknowledgement is sent at once; of output this or a
  /// sixteenth of its window.
  public static let acknowledgeBytes: UInt64 = 64 << 10
  /// Age of the oldest unacknowledged byte at which an acknowledgement is sent.
  public static let acknowledgeAge: Milliseconds = 200
  /// Attachments of one session, and connections that wait to be one.
  public static let attachments = 16
  /// Ended leases for which a session records the accepted input.
  public static let endedLeases = 64
  /// Controls that wait for their acknowledgement.
  public static let controls = 1024
  /// Output that a program may be ahead of a writer that makes progress.
  public static let lead: UInt64 = 1 << 20
  /// What may be under way to a peer that is slow, where that is to be little.
  public static let smallestPace: UInt64 = 128 << 10
  /// A client that catches up gets the screen in place of what takes it longer than this, once
  /// something was typed.
  public static let usualDelay: Milliseconds = 300
  /// Less is always sent.
  public static let smallestSkip: UInt64 = 64 << 10
  /// Time without an acknowledgement after which a writer no longer holds back the program.
  public static let stall: Milliseconds = 1000
  /// Time without a frame after which a writer that was pinged no longer keeps another client from
  /// writing.
  public static let writerSilence: Milliseconds = 3000
  /// Retained output of a program on a terminal.
  public static let terminalCap: UInt64 = 64 << 20
  /// Retained output of a program on pipes.
  public static let pipesCap: UInt64 = 256 << 20
}

/// Milliseconds of a clock that never goes back; its origin does not matter.
public typealias Milliseconds = UInt64
