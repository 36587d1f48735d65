package import BridgeSessionProtocol
import BridgeWaiting

/// Where a program is, or was to be started: under one name there may be several machines, and one
/// machine may have its home directory at one time and not at another.
package final class StartPlace: Sendable {
  private struct State {
    var known: Identifier?
    var mayHaveStarted = false
  }

  private let state = Mutex(State())

  /// Not known yet.
  package init() {}

  /// Whether a host was sent what starts the program, and did not decline it.
  package var mayHaveStarted: Bool { state.withLock(\.mayHaveStarted) }

  /// Records where a host keeps sessions that is sent what starts the program, or has it.
  ///
  /// - Returns: whether it may have been started before.
  @discardableResult package func enter(_ places: [Identifier]) -> Bool {
    state.withLock { state in
      if state.known == nil { state.known = places.first }
      defer { state.mayHaveStarted = true }
      return state.mayHaveStarted
    }
  }

  /// Records where a host keeps sessions that has answered.
  package func see(_ places: [Identifier]) {
    state.withLock { if $0.known == nil { $0.known = places.first } }
  }

  /// Records that the host declined to start it, or that another program is to be started.
  package func decline(couldHaveStarted: Bool) {
    state.withLock { $0.mayHaveStarted = couldHaveStarted }
  }

  /// Whether a host that keeps sessions there, or none, has lost what was seen at another place.
  package func isGone(from places: [Identifier]) -> Bool {
    state.withLock(\.known).map { !places.contains($0) } ?? false
  }

  /// Whether a host that keeps sessions there can know of the program; true where nothing is known.
  package func isAmong(_ places: [Identifier]) -> Bool {
    guard let place = state.withLock(\.known), !places.isEmpty else { return true }
    return places.contains(place)
  }
}
