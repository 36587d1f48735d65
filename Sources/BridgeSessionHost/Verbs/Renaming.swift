import BridgeSessionProtocol

extension Inspection {
  /// Gives a session another name, which no other one that runs has; answers with its status.
  func rename(_ session: SessionID, to name: [UInt8]) -> UInt8 {
    guard let files = SessionFiles(session, in: roots), files.shownStatus() != nil else {
      return declineUnknown(session)
    }
    do throws(SystemError) {
      let names = SessionNames(roots: roots)
      let held = try names.hold()
      defer { held.closeNow() }
      if let other = names.running(name, except: session) {
        return answer.decline(.nameTaken, "Session \(other) has the name already.")
      }
      try files.rename(to: name)
      // Its keeper tells the clients that are attached.
      _ = (try? files.connect())?.send([LocalMessage.version, LocalMessage.rename, 0])
    } catch {
      return answer.decline(.storage, error.text)
    }
    guard let status = files.shownStatus() else { return declineUnknown(session) }
    answer.send(.status(status))
    return HostStatus.success
  }
}
