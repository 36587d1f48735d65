import BridgeFiles
import BridgeSessionProtocol
import BridgeWaiting

// A copy that the user ends before it is complete.
extension FileTransfer {
  /// How far the host's end knows that the copy will not go on.
  enum GivingUp {
    /// It does not yet.
    case wanted
    /// It was sent to it.
    case sent
  }

  /// Has the host remove what it wrote of the file under way of a tree, where the link is up; a
  /// part of a single file stays for the next run. Waits until that is done, for a moment: no more
  /// is under way than the host takes in less.
  ///
  /// - Returns: whether it is not known to be removed.
  package func giveUp() async -> Bool {
    guard job.isRecursive, job.role == .put, !isFinished, givingUp == nil else { return false }
    guard isCarrying else {
      guard let sender, !sender.isEndedByReceiver else { return false }
      return sender.point.part != nil
    }
    givingUp = .wanted
    changes.announce()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.untilOver() }
      group.addTask { [clock] in await clock.sleep(Self.givingUpLimit) }
      await group.next()
      group.cancelAll()
    }
    return givingUp != .sent || !hasEnded
  }

  /// Less than a process has to end after a signal: it says then what may be left.
  private static var givingUpLimit: Milliseconds { 1600 }

  private func untilOver() async {
    while isCarrying, !Task.isCancelled { try? await changes.wait(after: changes.version) }
  }

  /// Removes what cannot be used any more; a part of a single file stays for the next run.
  package func abandon() { if job.isRecursive { receiver?.abandon() } }
}
