import BridgeErrors

/// The versions of the schema: step n makes version n out of version n − 1.
struct PostgresSchema: Sendable {
  /// What is to be done with a schema.
  enum Action: Equatable {
    /// It is empty, or has an earlier version.
    case migrate(from: Int)
    /// Nothing.
    case none
  }

  /// One script for each version; they run with the schema as the search path.
  var steps: [String]

  /// The version that this program writes.
  var version: Int { steps.count }

  /// What is to be done with a schema that has so many relations, and the version where a table of
  /// ours names one.
  func action(version: Int?, relations: Int, store: String) throws(AppError) -> Action {
    guard let version else {
      guard relations == 0 else { throw .storeUnusable(store: store, problem: .otherProgram) }
      return .migrate(from: 0)
    }
    guard version <= self.version else {
      throw .storeUnusable(
        store: store, problem: .newerSchema(found: version, known: self.version))
    }
    return version == self.version ? .none : .migrate(from: version)
  }

  /// Makes or migrates the schema of this name, in one transaction.
  func script(schema: String, from version: Int) -> String {
    """
    CREATE SCHEMA IF NOT EXISTS "\(schema)";
    SET LOCAL search_path = "\(schema)", pg_catalog;
    \(steps[version...].joined(separator: "\n"))
    DELETE FROM bridge_store_version;
    INSERT INTO bridge_store_version VALUES (\(self.version));
    """
  }

  /// The schema of this program. A step that was released is never changed.
  static let current = PostgresSchema(steps: [
    tables, "CREATE TABLE closed (agent text PRIMARY KEY);", PostgresFunction.perform,
  ])

  private static let tables = """
    CREATE TABLE bridge_store_version (version integer NOT NULL);
    CREATE SEQUENCE fence AS bigint;
    CREATE TABLE lease (
      agent text PRIMARY KEY, host text NOT NULL, fence bigint NOT NULL, expires bigint NOT NULL,
      writer text NOT NULL, written bigint NOT NULL
    );
    CREATE TABLE session (
      agent text PRIMARY KEY, machine text NOT NULL, session text NOT NULL, resume bytea
    );
    CREATE TABLE point (
      agent text NOT NULL, effect text NOT NULL, point bytea NOT NULL, PRIMARY KEY (agent, effect)
    );
    CREATE TABLE message (
      number bigserial PRIMARY KEY, agent text NOT NULL, id text NOT NULL, text bytea NOT NULL,
      UNIQUE (agent, id)
    );
    CREATE TABLE approval (
      number bigserial PRIMARY KEY, agent text NOT NULL, id text NOT NULL, state text NOT NULL,
      record bytea NOT NULL, UNIQUE (agent, id)
    );
    CREATE INDEX ON approval (state, agent, number);
    CREATE TABLE outage (id text PRIMARY KEY, start bigint NOT NULL, value bytea NOT NULL);
    CREATE INDEX ON outage (start);
    """
}
