import BridgeErrors
import BridgeStorePostgres
import BridgeTransport
import BridgeWaiting
import Foundation

/// A PostgreSQL server of the tests' own, on a unix socket in a temporary directory. It ends with
/// this process, however that ends: a shell waits for the end of its input, then stops it.
final class PostgresServer: Sendable {
  struct Missing: Error, CustomStringConvertible {
    var description: String
  }

  private static let script = """
    dir=$1; shift
    bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    run() { "$@"; }
    if [ "$(id -u)" = 0 ]; then
      chown postgres "$dir"
      run() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
    fi
    cd "$dir"
    exec 3>&1 >"$dir/setup.log" 2>&1
    run "$bin/initdb" -D "$dir/data" -U bridge --auth=trust -E UTF8 --locale=C --no-sync
    { echo 'local all guarded scram-sha-256'; echo 'local all all trust'; } >"$dir/data/pg_hba.conf"
    control() { run "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w "$@" </dev/null; }
    start() { control -o "-k $dir -c listen_addresses='' -c max_connections=200" start; }
    start && echo ready >&3
    while read -r command; do
      case $command in
        restart) control -m immediate restart ;;
        stop) control -m immediate stop ;;
        start) start ;;
      esac
      echo "$command" >&3
    done
    control -m immediate stop
    rm -rf "$dir"
    """

  /// The server of all tests that leave it as it is.
  static let shared = Task { try await PostgresServer.start() }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let folder: String
  private let lastSchema = Mutex(0)

  /// A server that has started; what blocks is on a thread of its own, and keeps no other test.
  static func start() async throws -> PostgresServer {
    try await DetachedThread.value { try PostgresServer() }
  }

  private init() throws {
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "bridge-pg-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", Self.script, "sh", folder]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try answer("ready")
  }

  deinit { try? input.fileHandleForWriting.close() }

  private func answer(_ expected: String) throws {
    var text = ""
    while !text.hasSuffix("\n") {
      // A signal, as of a child process that ended, interrupts it.
      guard let data = try? output.fileHandleForReading.read(upToCount: 1) else { continue }
      if data.isEmpty { break }
      text += String(decoding: data, as: UTF8.self)
    }
    guard text == expected + "\n" else {
      let log = try? String(contentsOfFile: folder + "/setup.log", encoding: .utf8)
      throw Missing(description: "PostgreSQL: \(text) \(log ?? "")")
    }
  }

  /// Does it, and returns when it is done: `restart` and `stop` as a crash does.
  func control(_ command: String) async throws {
    try await DetachedThread.value { [self] in
      try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
      try answer(command)
    }
  }

  func connection(_ more: String = "") -> Secret {
    Secret("host=\(folder) user=bridge dbname=postgres \(more)")
  }

  /// The name of a schema that no other test has.
  func newSchema() -> String {
    lastSchema.withLock { last in
      last += 1
      return "store_\(last)"
    }
  }
}
