import BridgeSessionProtocol

/// Which run writes a part that several streams write at once, each in a process of its own.
///
/// A file beside the part names the run, the part, and a stamp of the moment when that run took the
/// part over. The streams of one run share a lock of that file; another run takes the part over
/// only where no stream is left, and all that the former run knew of the part is void then: its
/// stamp is another one. The part is opened and created under that lock only, so that a stream
/// never writes into the part of another run.
final class PartOwner {
  /// Of the moment when this run took the part over.
  let stamp: [UInt8]
  /// What all streams write.
  let part: OpenFile
  private let file: OpenFile
  private let place: Place

  /// Where both files are.
  struct Place {
    let directory: OpenFile
    let part: [UInt8]
    let owner: [UInt8]

    init(_ names: PartNames, of count: Int, in directory: OpenFile) {
      self.directory = directory
      (part, owner) = (names.striped(count), names.owner(count))
    }
  }

  private enum State: UInt8 {
    /// No stream has begun.
    case fresh = 1
    case begun
    /// No stream of the run goes on.
    case givenUp
  }

  /// What the file says.
  private struct Content: Equatable {
    var run: [UInt8]
    var stamp: [UInt8]
    /// The device and the number of the part.
    var part: [UInt8]
    var state = State.fresh

    private static let length = 16

    init(run: Identifier, stamp: [UInt8], part: [UInt8]) {
      (self.run, self.stamp, self.part) = (run.bytes, stamp, part)
    }

    init?(_ file: OpenFile) throws(SystemFailure) {
      let length = Self.length
      var bytes: [UInt8] = []
      try file.read(at: 0, count: 3 * length + 1, into: &bytes)
      guard bytes.count == 3 * length + 1, let state = State(rawValue: bytes[3 * length]) else {
        return nil
      }
      self.state = state
      run = Array(bytes[..<length])
      stamp = Array(bytes[length..<(2 * length)])
      part = Array(bytes[(2 * length)..<(3 * length)])
    }

    var bytes: [UInt8] { run + stamp + part + [state.rawValue] }
  }

  /// The byte whose lock is held for a moment, to read who owns the part and to change that.
  private static let change = 0
  /// The byte whose lock the streams of the owner share.
  private static let membership = 1
  /// How often a file may be removed between its opening and its lock.
  private static let attempts = 100

  private init(_ file: OpenFile, _ part: OpenFile, _ place: Place, stamp: [UInt8]) {
    (self.file, self.part, self.place, self.stamp) = (file, part, place, stamp)
  }

  /// Takes part in a run, for as long as the result lives.
  ///
  /// - Parameters:
  ///   - stamp: of the moment, 16 bytes; of use where the run takes the part over.
  ///   - displace: waits for the end of what holds the part, and ends what does not write it.
  /// - Throws: `busy` where another run writes the part, or this one lost it; what keeps the files
  ///   from being made.
  static func join(
    _ run: Identifier, at place: Place, stamp: [UInt8], displace: FileReceiver.Displace? = nil
  ) throws(FileFault) -> PartOwner {
    var displace = displace
    do throws(SystemFailure) {
      for _ in 0..<attempts {
        guard let file = try openOwner(at: place), lock(file, at: place) else { continue }
        if let owner = try enter(run, file, place, stamp: stamp) { return owner }
        // Streams that end need the lock for it: it is not held meanwhile.
        guard let ends = displace.take() else { throw .locked }
        if let held = try? place.directory.reopen(place.part), !ends(held, { mayEnter(run, file) })
        {
          throw .locked
        }
      }
      throw .locked
    } catch {
      throw error == .locked ? FileFault(.busy) : error.ofTarget
    }
  }

  /// Joins the run that has the part, or takes the part over; nil where another run holds it. The
  /// lock of the file is given back.
  private static func enter(
    _ run: Identifier, _ file: OpenFile, _ place: Place, stamp: [UInt8]
  ) throws(SystemFailure) -> PartOwner? {
    defer { _ = file.lock(byte: change, .none) }
    if let owner = try known(run, file, place) { return owner }
    guard file.lock(byte: membership, .alone) else { return nil }
    return try takeOver(file, place, by: run, stamp: stamp)
  }

  /// Whether no stream of another run holds the part: it is free, or another stream of this run
  /// that waited has it.
  private static func mayEnter(_ run: Identifier, _ file: OpenFile) -> Bool {
    guard file.lock(byte: change, .alone) else { return false }
    defer { _ = file.lock(byte: change, .none) }
    if let content = try? Content(file), content.run == run.bytes { return true }
    guard file.lock(byte: membership, .alone) else { return false }
    return file.lock(byte: membership, .none)
  }

  /// The part as a run left it that wrote all of it; nil where another run took it over.
  static func find(_ run: Identifier, at place: Place) -> PartOwner? {
    guard let file = try? place.directory.reopen(place.owner), lock(file, at: place) else {
      return nil
    }
    defer { _ = file.lock(byte: change, .none) }
    return try? known(run, file, place)
  }

  /// Removes what a run left that no stream goes on with.
  static func clear(_ place: Place) {
    let directory = place.directory
    guard
      (try? directory.status(of: place.owner)) != nil
        || (try? directory.status(of: place.part)) != nil,
      let file = try? open(place.owner, in: directory), lock(file, at: place),
      file.lock(byte: membership, .alone)
    else { return }
    directory.remove(place.part)
    directory.remove(place.owner)
  }

  /// Holds the file for a moment; false where its name is gone.
  private static func lock(_ file: OpenFile, at place: Place) -> Bool {
    file.lock(byte: change, .alone, waits: true) && file.isNamed(place.owner, in: place.directory)
  }

  /// Nil where the last stream that ended has just removed it.
  private static func openOwner(at place: Place) throws(SystemFailure) -> OpenFile? {
    do throws(SystemFailure) {
      return try open(place.owner, in: place.directory)
    } catch {
      guard error.isMissing else { throw error }
      return nil
    }
  }

  private static func open(
    _ name: [UInt8], in directory: OpenFile
  ) throws(SystemFailure) -> OpenFile {
    do throws(SystemFailure) {
      return try directory.create(name)
    } catch {
      guard error.exists else { throw error }
      return try directory.reopen(name)
    }
  }

  /// Nil for the file of another run.
  private static func known(
    _ run: Identifier, _ file: OpenFile, _ place: Place
  ) throws(SystemFailure) -> PartOwner? {
    guard var content = try Content(file), content.run == run.bytes else { return nil }
    guard content.state != .givenUp else {
      removeUnlessShared(file, place)
      throw .locked
    }
    var part: OpenFile?
    do throws(SystemFailure) {
      part = try place.directory.reopen(place.part)
    } catch {
      guard error.isMissing else { throw error }
    }
    guard let part, try identity(of: part) == content.part else {
      // A part that is gone had bytes that were acknowledged.
      content.state = .givenUp
      try file.write(content.bytes, at: 0)
      removeUnlessShared(file, place)
      throw .locked
    }
    guard file.lock(byte: membership, .shared) else { throw .locked }
    return PartOwner(file, part, place, stamp: content.stamp)
  }

  /// No stream is left that would do it.
  private static func removeUnlessShared(_ file: OpenFile, _ place: Place) {
    guard file.lock(byte: membership, .alone) else { return }
    place.directory.remove(place.part)
    place.directory.remove(place.owner)
  }

  private static func takeOver(
    _ file: OpenFile, _ place: Place, by run: Identifier, stamp: [UInt8]
  ) throws(SystemFailure) -> PartOwner {
    var part: OpenFile?
    do throws(SystemFailure) {
      let opened = try openPart(at: place)
      part = opened
      let content = Content(run: run, stamp: stamp, part: try identity(of: opened))
      try file.write(content.bytes, at: 0)
      guard file.lock(byte: membership, .shared) else { throw .locked }
      return PartOwner(file, opened, place, stamp: stamp)
    } catch {
      if let status = try? part?.status(), status.size == 0 { place.directory.remove(place.part) }
      place.directory.remove(place.owner)
      throw error
    }
  }

  /// One that cannot be written has its last mode already, and was never completed.
  private static func openPart(at place: Place) throws(SystemFailure) -> OpenFile {
    do throws(SystemFailure) {
      return try open(place.part, in: place.directory)
    } catch {
      place.directory.remove(place.part)
      return try place.directory.create(place.part)
    }
  }

  private static func identity(of part: OpenFile) throws(SystemFailure) -> [UInt8] {
    Array(try part.status().identity.prefix(16))
  }

  /// A stream has begun to write.
  func begin() { change(to: .begun, from: .fresh) }

  /// No stream of the run goes on: the last one that ends removes the part.
  func giveUp() { change(to: .givenUp) }

  private func change(to state: State, from old: State? = nil) {
    guard Self.lock(file, at: place) else { return }
    defer { _ = file.lock(byte: Self.change, .none) }
    guard var content = try? Content(file), old == nil || content.state == old else { return }
    content.state = state
    try? file.write(content.bytes, at: 0)
  }

  /// A stream ends. The last one removes what no stream goes on with, or ever wrote.
  func end() {
    guard Self.lock(file, at: place) else { return }
    defer { _ = file.lock(byte: Self.change, .none) }
    let state = (try? Content(file))?.state
    let isEmpty = (try? part.status().size) == 0
    guard state == .givenUp || (state == .fresh && isEmpty),
      file.lock(byte: Self.membership, .alone)
    else {
      _ = file.lock(byte: Self.membership, .none)
      return
    }
    if part.isNamed(place.part, in: place.directory) { place.directory.remove(place.part) }
    place.directory.remove(place.owner)
  }

  /// The part has the name of the file.
  func complete() {
    guard Self.lock(file, at: place) else { return }
    place.directory.remove(place.owner)
  }
}
