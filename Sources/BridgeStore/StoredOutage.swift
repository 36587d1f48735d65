/// A time in which a link was down.
public struct StoredOutage: Sendable, Hashable, Codable {
  /// A part of an outage: to detect it, to wait, to dial, to log in, to resume.
  public struct Phase: Sendable, Hashable, Codable {
    /// Its name.
    public var name: String
    /// How long it took.
    public var duration: Duration

    /// A part that took so long.
    public init(name: String, duration: Duration) {
      self.name = name
      self.duration = duration
    }

    var size: Int { name.utf8.count + 48 }
  }

  /// Its id, different from those of all hosts.
  public var id: String
  /// The link that was down, by the application's name for it.
  public var link: String
  /// When it began, in milliseconds since 1970, by the clock of the host.
  public var start: Int64
  /// Its parts, in order.
  public var phases: [Phase]
  /// When it was over, in milliseconds since 1970; nil while it is not.
  public var end: Int64?

  /// An outage.
  public init(id: String, link: String, start: Int64, phases: [Phase] = [], end: Int64? = nil) {
    self.id = id
    self.link = link
    self.start = start
    self.phases = phases
    self.end = end
  }

  /// About how many bytes it holds.
  var size: Int { phases.reduce(id.utf8.count + link.utf8.count + 64) { $0 + $1.size } }
}
