/// Whether a session has a keeper, or a start that has not handed over yet.
enum SessionLife: Equatable {
  case alive
  case dead
  /// It cannot be found out here. A session that may live is not called dead.
  case unknown
}

extension SessionFiles {
  /// A keeper holds the lock for as long as it lives. Where that cannot be looked at, because its
  /// file was removed or the file system fails, its socket and its process tell.
  var life: SessionLife {
    do throws(SystemError) {
      if try directory.openForReading("lock").isLocked() { return .alive }
    } catch {
      return lifeOfKeeper
    }
    // The locks of another machine are not seen everywhere.
    guard let state, state.isElsewhere, state.phase != .ended else { return .dead }
    return .unknown
  }

  private var lifeOfKeeper: SessionLife {
    guard let state else { return .unknown }
    if (try? directory.connect()) != nil { return .alive }
    if state.phase == .ended { return .dead }
    if state.isElsewhere { return .unknown }
    guard state.boot == Machine.boot else { return .dead }
    guard let keeper = state.keeper, let start = state.keeperStart else {
      return state.phase == .claimed ? .dead : .unknown
    }
    guard let runs = Programs.runs(process: keeper, startedAt: start) else { return .unknown }
    return runs ? .alive : .dead
  }

  /// The other machine that has the session; nil where it is of this one, or has ended.
  var otherNode: String? {
    guard let state, state.isElsewhere, state.phase != .ended, life != .dead else { return nil }
    return state.node
  }
}
