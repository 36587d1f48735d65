import BridgeErrors

/// The versions of the schema: step n makes version n out of version n − 1.
struct SQLiteSchema: Sendable {
  /// What is to be done with a file.
  enum Action: Equatable {
    /// It is empty, or has an earlier version.
    case migrate(from: Int)
    /// Nothing.
    case none
  }

  /// "BrAg", at offset 68 of a database's header (https://www.sqlite.org/fileformat2.html, 1.3.14).
  static let applicationID = 0x4272_4167

  /// One script for each version.
  var steps: [String]

  /// The version that this program writes.
  var version: Int { steps.count }

  /// What is to be done with a file, by what it says of itself.
  func action(applicationID: Int, version: Int, isEmpty: Bool) throws(StoreRefusal) -> Action {
    if applicationID == 0, version == 0, isEmpty { return .migrate(from: 0) }
    guard applicationID == Self.applicationID else { throw StoreRefusal(.otherProgram) }
    guard version <= self.version else {
      throw StoreRefusal(.newerSchema(found: version, known: self.version))
    }
    return version == self.version ? .none : .migrate(from: version)
  }

  /// The schema of this program. A step that was released is never changed.
  static let current = SQLiteSchema(steps: [
    """
    CREATE TABLE counter (fence INTEGER NOT NULL) STRICT;
    INSERT INTO counter VALUES (0);
    CREATE TABLE lease (
      agent TEXT NOT NULL PRIMARY KEY, host TEXT NOT NULL, fence INTEGER NOT NULL,
      expires INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE session (
      agent TEXT NOT NULL PRIMARY KEY, machine TEXT NOT NULL, session TEXT NOT NULL, resume BLOB
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE point (
      agent TEXT NOT NULL, effect TEXT NOT NULL, point BLOB NOT NULL, PRIMARY KEY (agent, effect)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE message (
      number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, id TEXT NOT NULL,
      text BLOB NOT NULL, UNIQUE (agent, id)
    ) STRICT;
    CREATE TABLE approval (
      number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, agent TEXT NOT NULL, id TEXT NOT NULL,
      state TEXT NOT NULL, record BLOB NOT NULL, UNIQUE (agent, id)
    ) STRICT;
    CREATE INDEX approval_state ON approval (state, agent, number);
    CREATE TABLE outage (
      id TEXT NOT NULL PRIMARY KEY, start INTEGER NOT NULL, value BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX outage_start ON outage (start);
    """,
    "CREATE TABLE closed (agent TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;",
  ])
}

/// Why a file is not used, before its path is known.
struct StoreRefusal: Error, Equatable {
  let problem: StoreProblem

  init(_ problem: StoreProblem) { self.problem = problem }
}
