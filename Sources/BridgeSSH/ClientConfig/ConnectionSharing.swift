/// How a run shares its connection with others: ControlMaster, ControlPath and ControlPersist of
/// ssh_config(5).
package struct ConnectionSharing: Sendable, Equatable {
  /// Whether a run shares the connection that it makes.
  package enum Master: String, Sendable, CaseIterable {
    case no
    /// It makes one of its own, and shares that.
    case yes
    /// It uses one that is shared, or makes one and shares that.
    case auto
    /// As `yes`, where a person agrees to each use.
    case ask
    /// As `auto`, where a person agrees to each use.
    case autoask
  }

  /// How long a shared connection stays there that nothing runs over.
  package enum Persistence: Sendable, Equatable {
    /// As long as the run that has made it.
    case none
    /// In the background, for so long without a session.
    case limited(Duration)
    /// In the background, until it is ended.
    case forever
  }

  /// ControlMaster.
  package var master = Master.no
  /// The unix socket of ControlPath, tokens replaced; nil for none.
  package var path: String?
  /// ControlPersist.
  package var persistence = Persistence.none

  /// Nothing is shared.
  package init() {}

  /// Whether a connection that another run shares is used.
  package var usesOthers: Bool {
    path != nil && [.no, .auto, .autoask].contains(master)
  }

  /// Whether a connection of its own is shared: with others that a person need not agree to.
  package var isShared: Bool { path != nil && [.yes, .auto].contains(master) }
}
