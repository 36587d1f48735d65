/// Why a store of an agent host cannot be used: what only a person ends, but for `unavailable`.
public enum StoreProblem: Sendable, Hashable {
  /// It does not answer, or too many requests wait for it: it may by itself.
  case unavailable(reason: String)
  /// It was written by a newer version of the program; both numbers are of the schema.
  case newerSchema(found: Int, known: Int)
  /// It belongs to another program.
  case otherProgram
  /// The file is no database.
  case notADatabase
  /// Another process has it open.
  case inUse
  /// It may be read and not written.
  case readOnly
  /// The disk, or the quota, is used up.
  case full
  /// Parts of it cannot be read.
  case damaged
  /// The database refuses the user or the password.
  case refused
}

extension StoreProblem {
  /// Whether it may be over without a person.
  public var isTransient: Bool { if case .unavailable = self { true } else { false } }
}
