import NIOCore

/// A server program with its sessions: started, watched until it listens, signaled, ended by pid.
struct ServerProcess: Sendable {
  private let program: String
  private var child: ChildProcess
  private var watchdog: Watchdog

  /// Starts it and waits until it has written its pid file, which both servers do once they listen.
  ///
  /// - Throws: `notReady` with its log when it ends first, or after a minute.
  init(
    _ program: String, _ arguments: [String], in folder: TemporaryFolder
  ) async throws(FaultError) {
    self.program = program
    folder.remove("pid")
    child = try ChildProcess(program, arguments, log: folder.file("log"))
    do throws(FaultError) {
      watchdog = try Watchdog(server: child.pid, folder: folder.path)
    } catch {
      await child.end()
      throw error
    }
    let begun = ContinuousClock.now
    while ContinuousClock.now - begun < .seconds(60) {
      if folder.exists("pid") { return }
      if child.hasEnded() { break }
      await pause(.milliseconds(1))
    }
    await watchdog.callOff()
    await child.end()
    throw .notReady(program: program, log: String(folder.read("log").suffix(2_000)))
  }

  /// Its process id.
  var pid: Int32 { child.pid }

  /// Pids of its sessions and what they run.
  var sessions: [Int32] { ProcessFamily.descendants(of: child.pid) }

  /// Signals the sessions, not the listener.
  func signalSessions(_ signal: Signal) {
    ProcessFamily.send(signal, descendantsOf: child.pid)
  }

  /// Signals the listener, not the sessions.
  mutating func signalListener(_ signal: Signal) { child.send(signal) }

  /// Kills listener and sessions and waits until the listener is reaped.
  mutating func kill() async {
    await watchdog.callOff()
    // Stopped first, it cannot start a session between the count and the kill.
    child.send(.stop)
    signalSessions(.kill)
    await child.end()
  }
}
