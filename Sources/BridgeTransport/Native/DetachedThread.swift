import BridgeWaiting
import CSessionSystem
import Glibc

/// A detached thread.
package enum DetachedThread {
  private final class Body: Sendable {
    let name: String?
    let run: @Sendable () -> Void

    init(name: String?, _ run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }

  /// Runs `body` on a new thread named `name` (of the process where that is nil); false where the
  /// system has none left.
  package static func start(
    name: String? = nil, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    var thread = pthread_t()
    let argument = unsafe Unmanaged.passRetained(Body(name: name, body))
    guard
      unsafe pthread_create(&thread, nil, { unsafe DetachedThread.main($0) }, argument.toOpaque())
        == 0
    else {
      unsafe argument.release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  /// What `body`, which blocks, returns on a new thread: the threads of tasks are few. It runs on
  /// the caller's where the system has none left.
  ///
  /// - Throws: as `body`.
  package static func value<Value: Sendable, Failure: Error>(
    named name: String? = nil, of body: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result = Promise<Result<Value, Failure>>()
    let isStarted = start(name: name) { result.fulfill(Result(catching: body)) }
    if !isStarted { result.fulfill(Result(catching: body)) }
    return try await result.value().get()
  }

  private static func main(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
    if let name = body.name { unsafe bridge_name_thread(name) }
    body.run()
    return nil
  }
}
