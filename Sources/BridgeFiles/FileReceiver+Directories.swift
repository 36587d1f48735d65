import BridgeSessionProtocol

// The directories and symbolic links of a stream.
extension FileReceiver {

  func enter(_ entry: UInt64, _ name: FileName?, _ meta: FileMeta) {
    let path = incoming.directory
    // One that is entered again, on the way to what follows, was reported.
    let isNews = after?.starts(with: path) != true && takesMetadata
    do throws(FileFault) {
      let directory = try open(name, meta)
      directories.append(directory)
      if isNews, directory?.keepsMode(insteadOf: meta) == true {
        refuse(entry, path, FileFault(.unwritable, Self.otherOwner))
      }
    } catch {
      directories.append(nil)
      refuse(entry, path, error)
    }
    settle(path, isDirectory: true)
  }

  /// Whether the directory that is entered or left takes the mode and time of the source: the
  /// content of a tree is copied into a directory that has its own.
  private var takesMetadata: Bool { !directories.isEmpty || target?.name != nil }

  /// Said of a directory that takes what is copied into it, but not the mode.
  package static let otherOwner = "its mode stays as it is: another user owns it"

  /// Nil below a directory that could not be entered.
  private func open(_ name: FileName?, _ meta: FileMeta) throws(FileFault) -> OpenFile? {
    guard let target else { return nil }
    let parent: OpenFile
    let own: [UInt8]
    if let name {
      guard let last = directories.last, let directory = last else { return nil }
      (parent, own) = (directory, name.bytes)
    } else {
      guard let name = target.name else { return target.directory }
      (parent, own) = (target.directory, name)
    }
    do throws(SystemFailure) {
      do throws(SystemFailure) {
        try parent.makeDirectory(own)
      } catch {
        guard error.exists else { throw error }
      }
      let directory = try parent.directory(own)
      // The stream before, or an earlier copy, may have given it a mode that allows no more. It set
      // the time with it: one that the user has closed is another.
      if let now = try? directory.status().meta, now.hasMode(of: meta), now.hasTime(of: meta) {
        directory.allowNames()
      }
      return directory
    } catch {
      throw error.ofTarget
    }
  }

  func finishDirectory(_ meta: FileMeta) {
    guard let last = directories.popLast(), let directory = last else { return }
    if takesMetadata { try? directory.setDirectory(meta) }
  }

  func link(_ entry: UInt64, _ name: FileName, _ goal: [UInt8]) {
    let path = incoming.directory + [name.bytes]
    if let last = directories.last, let directory = last {
      do throws(FileFault) {
        try directory.requireReplaceable(name.bytes)
        try makeLink(name.bytes, to: goal, in: directory)
      } catch {
        refuse(entry, path, error)
      }
    } else {
      refuse(entry, path, FileFault(.unwritable, Self.noDirectory))
    }
    settle(path)
  }

  private func makeLink(
    _ name: [UInt8], to goal: [UInt8], in directory: OpenFile
  ) throws(FileFault) {
    let temporary = temporary(name)
    directory.remove(temporary)
    do throws(SystemFailure) {
      try directory.makeLink(temporary, to: goal)
      try directory.rename(temporary, to: name)
    } catch {
      directory.remove(temporary)
      throw error.ofTarget
    }
  }
}
