/// The processes that descend from this one, as proc(5) shows them: those of its program, which a
/// keeper adopts when their parents end.
struct ProcessTree {
  struct Member {
    let process: Int32
    let group: Int32
  }

  private(set) var members: [Member] = []

  init() {
    guard let folder = try? Directory("/proc") else { return }
    var parents: [Int32: Int32] = [:]
    var found: [Member] = []
    for process in folder.names().compactMap({ Int32($0) }) {
      guard let fields = Programs.fields(of: process), fields.count > 3,
        let parent = Int32(fields[2]), let group = Int32(fields[3])
      else { continue }
      parents[process] = parent
      found.append(Member(process: process, group: group))
    }
    members = found.filter { Self.descends($0.process, by: parents) }
  }

  private static func descends(_ process: Int32, by parents: [Int32: Int32]) -> Bool {
    var (current, steps) = (process, 0)
    // They are not read at one time: there may be a circle.
    while let parent = parents[current], steps < parents.count {
      if parent == Programs.ownProcess { return true }
      (current, steps) = (parent, steps + 1)
    }
    return false
  }

  func hasMember(of group: Int32) -> Bool { members.contains { $0.group == group } }

  /// Those that hold one of these pipes open, at either end.
  func holders(of pipes: [Descriptor]) -> [Member] {
    let own = Set(pipes.compactMap { Directory.target(of: "/proc/self/fd/\($0.number)") })
    return members.filter { member in
      guard let folder = try? Directory("/proc/\(member.process)/fd") else { return false }
      return folder.names().contains { folder.target(of: $0).map(own.contains) == true }
    }
  }
}
