import Foundation

extension Report {
  /// Too few faults say nothing about a slope.
  static let leastFaultsForSlope = 500

  /// Adds every promise that the figures break.
  mutating func evaluate() {
    let kept = ledger
    promise("descriptors are back", kept.after.descriptors == kept.before.descriptors)
    // The language's pool grows to one thread a core and shrinks as it likes.
    let pool = ProcessInfo.processInfo.activeProcessorCount
    promise("threads are back", kept.after.threads <= kept.before.threads + pool)
    promise("no session is left", kept.sessionsLeft == 0)
    promise("no connection of a peer is left", kept.peersLeft == 0)
    promise("the supervisor has no child left", kept.supervisorEnded)
    promise("the supervisor has no task left", kept.supervisorGone)
    promise(
      "every link is up or waits for a person",
      kept.linksUp + kept.linksWithPerson == connections)
    promise("sshd knows of every refusal", kept.refusalsTold <= kept.unauthenticated)
    promise("no refused credential is offered twice", kept.refusedTwice == 0)
    promise("no event is missed", kept.missedEvents == 0)
    promise("slow applications have everything", kept.slowReads > 0)
    promise("operations are run", kept.operations.done > 0)
    if faults >= Self.leastFaultsForSlope {
      promise("memory grows < 1 MiB a thousand faults", kept.mebibytesPerThousandFaults < 1)
    }
  }

  private mutating func promise(_ words: String, _ isKept: Bool) {
    if !isKept { broken.append(words) }
  }
}
