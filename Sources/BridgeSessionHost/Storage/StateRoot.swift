import BridgeSessionProtocol

/// Why no directory for sessions can be used.
enum RootError: Error, Equatable {
  /// It cannot hold files; another place may.
  case unsuitable(String)
  /// It is this user's, and cannot be looked into now; another place may hold new sessions.
  case hidden(String)
  /// It is there and not safe to use.
  case refused(String)

  var text: String {
    switch self {
    case .unsuitable(let text), .hidden(let text), .refused(let text): text
    }
  }
}

/// A directory that holds sessions of a user.
struct StateRoot {
  let directory: Directory

  init(directory: Directory) { self.directory = directory }

  private struct Place {
    /// A directory that is there, or may be made for the user.
    var base: String
    /// Directories in it, made where they are missing; the last two must be this user's only.
    var names: [String]
  }

  /// `$XDG_STATE_HOME/bridge/s`, else `~/.local/state/bridge/s`; where that cannot hold files,
  /// `/var/tmp/bridge-UID/s`. What one of them holds is found whichever of them new sessions use:
  /// a home directory that is full today was not yesterday.
  ///
  /// - Parameter creates: makes the first that can hold files where it is missing.
  /// - Returns: those that are there, new sessions' first; at least one.
  static func open(creates: Bool) throws(RootError) -> [StateRoot] {
    var roots: [StateRoot] = []
    var reasons: [String] = []
    for place in locations {
      do throws(RootError) {
        roots.append(try StateRoot(place, creates: creates && roots.isEmpty))
      } catch {
        // Once there is a directory for new sessions, another is no reason to refuse.
        guard roots.isEmpty else { continue }
        if case .refused = error { throw error }
        reasons.append(error.text)
      }
    }
    if roots.isEmpty { throw .unsuitable(reasons.joined(separator: "; ")) }
    return roots
  }

  /// Why sessions may be where they cannot be seen now: a directory of this user's lets nothing be
  /// read, by its mode or as the home directory of a user whose ticket has expired. nil where all
  /// can be.
  static var hidden: String? {
    for place in locations {
      do throws(RootError) {
        _ = try StateRoot(place, creates: false)
      } catch {
        if case .hidden(let text) = error { return "sessions may be in it: \(text)" }
      }
    }
    return nil
  }

  /// The last place to keep a session, made where it is missing; nil where it cannot be used.
  static func openLast() -> StateRoot? {
    locations.last.flatMap { try? StateRoot($0, creates: true) }
  }

  private static var locations: [Place] {
    var places: [Place] = []
    if let state = Programs.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
      // It is made where it is missing (XDG Base Directory Specification).
      let parts = state.split(separator: "/").map(String.init)
      let base = "/" + parts.dropLast().joined(separator: "/")
      places.append(Place(base: base, names: parts.suffix(1) + ["bridge", "s"]))
    } else if let home = Programs.variable("HOME"), home.hasPrefix("/") {
      places.append(Place(base: home, names: [".local", "state", "bridge", "s"]))
    }
    places.append(Place(base: "/var/tmp", names: ["bridge-\(Programs.user)", "s"]))
    return places
  }

  private init(_ place: Place, creates: Bool) throws(RootError) {
    var path = place.base
    var around: Directory?
    do throws(SystemError) {
      var current = try Directory(place.base, follows: true)
      for (index, name) in place.names.enumerated() {
        path += "/\(name)"
        around = current
        let mustBePrivate = index >= place.names.count - 2
        current = try Self.enter(name, in: current, creates: creates, follows: !mustBePrivate)
        let info = try current.descriptor.info()
        guard !mustBePrivate || info.user == Programs.user && info.isPrivate else {
          throw SystemError(Self.notPrivate, 0)
        }
      }
      directory = current
    } catch {
      let text = error.code == 0 ? error.call : error.text
      if error.code == 0 || error.isSymbolicLink { throw .refused("\(path): \(text)") }
      guard error.isUnsuitablePlace else { throw .refused("\(path): \(text)") }
      let owner = Self.owner(of: path, in: around)
      throw error.isDenied && owner == Programs.user
        ? .hidden("\(path): \(text)") : .unsuitable("\(path): \(text)")
    }
  }

  /// Who owns the directory that was not entered, or the one around it where that lets nothing be
  /// looked up; nil where it is not there.
  private static func owner(of path: String, in around: Directory?) -> UInt32? {
    guard let around else { return Directory.info(at: path)?.user }
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    if let info = around.info(of: name) { return info.user }
    return around.canBeSearched ? nil : (try? around.descriptor.info())?.user
  }

  /// The ids of directories, first of that which holds `session`.
  static func places(of session: SessionID?, in roots: [StateRoot]) -> [Identifier] {
    let own = roots.firstIndex { root in
      session.map { SessionFiles($0, in: [root]) != nil } ?? false
    }
    let order = roots.indices.sorted { $0 == own && $1 != own }
    return order.compactMap { roots[$0].place }
  }

  /// The id of the directory, made at random with its first use: a client knows by it that another
  /// machine answers, or one whose home directory is not there. Nil where it has none and takes
  /// none.
  var place: Identifier? {
    for _ in 0..<Self.attempts {
      do throws(SystemError) {
        if let place = try makePlace() { return place }
      } catch {
        // On a file system that takes no writes, for instance.
        return (try? directory.read(Self.placeName, limit: 16)).flatMap(Identifier.init(bytes:))
      }
      Poller.pause(5)
    }
    return nil
  }

  /// Nil while another process makes it.
  private func makePlace() throws(SystemError) -> Identifier? {
    let file = try directory.create(Self.placeName)
    if let known = Identifier(bytes: try file.read(at: 0, count: 16)) { return known }
    guard try file.lock() else { return nil }
    if let known = Identifier(bytes: try file.read(at: 0, count: 16)) { return known }
    let id = Identifier(high: Machine.entropy(), low: Machine.entropy())
    try file.write(id.bytes, at: 0)
    return id
  }

  private static let placeName = ".place"
  private static let attempts = 100

  private static let notPrivate = "not a directory that only this user may use (mode 0700)"

  private static func enter(
    _ name: String, in parent: Directory, creates: Bool, follows: Bool
  ) throws(SystemError) -> Directory {
    if creates {
      do throws(SystemError) {
        try parent.makeDirectory(name)
      } catch  where error.exists {
        // It was there.
      }
    }
    return try Directory(name, in: parent, follows: follows)
  }
}
