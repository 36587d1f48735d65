import BridgeErrors

/// All that the page shows. Instants are in milliseconds since 1970; texts are escaped.
struct ConsoleState: Sendable, Codable, Equatable {
  /// What the host does.
  struct Host: Sendable, Codable, Equatable {
    var name: String
    /// `ready`, `degraded` or `stopping`.
    var health: String
    /// Why it is degraded, in words of `AgentHostHealth.Reason`.
    var reason: String?
    var agents: [Agent]
    /// The last problem of its store, also one that is over.
    var storeProblem: Trouble?
    var takeovers: Int
    var losses: Int
    var failures: Int
  }

  /// An agent that the host carries.
  struct Agent: Sendable, Codable, Equatable {
    var name: String
    /// `running`, `waiting`, `pausing` or `ending`.
    var state: String
    var since: Int64
    /// Whether its screen can be seen.
    var hasScreen = false
    /// The machine that its session waits for.
    var waitsFor: String?
    /// When its work begins again.
    var nextAt: Int64?
    var problem: Trouble?
  }

  /// An error, and when it was there.
  struct Trouble: Sendable, Codable, Equatable {
    var title: String
    var message: String
    var hint: String?
    var since: Int64?
    var end: Int64?
  }

  /// A link.
  struct Link: Sendable, Codable, Equatable {
    enum State: String, Sendable, Codable, CaseIterable {
      case up, silent, connecting, waiting, suspended, failed
    }

    /// Its name, different from those of all links of all supervisors.
    var id: String
    var name: String
    var state: State
    /// Since when it is of use, or not.
    var since: Int64
    /// How long the peer took to answer the last probe, in milliseconds.
    var roundTrip: Double?
    /// Dials of this outage so far.
    var attempts = 0
    /// When it is dialed next.
    var nextAt: Int64?
    /// How far a dial has come.
    var phase: String?
    /// Since when the peer is silent.
    var silentSince: Int64?
    /// The link that it waits for.
    var waitsFor: String?
    var problem: Trouble?
  }

  /// An error that a person sees.
  struct Problem: Sendable, Codable, Equatable {
    struct Option: Sendable, Codable, Equatable {
      var kind: String
      var title: String
      /// `primary`, `secondary` or `destructive`.
      var style: String
    }

    var id: String
    /// What it is about: a link, or an operation.
    var source: String?
    /// `info`, `warning`, `error` or `critical`.
    var severity: String
    var title: String
    var message: String
    var hint: String?
    var count: Int
    /// Whether nothing happens before a person chooses.
    var needsPerson: Bool
    var options: [Option]
  }

  /// A host key that a person decides about.
  struct HostKey: Sendable, Codable, Equatable {
    enum Finding: String, Sendable, Codable, CaseIterable {
      case unknown, otherTypes, changed
    }

    /// What an answer names.
    var number: Int
    var host: String
    var keyType: String
    var fingerprint: String
    /// What is known of the host, and in which words.
    var finding: Finding
    var detail: String?
    var at: Int64
  }

  /// A question of an agent.
  struct Approval: Sendable, Codable, Equatable {
    struct Option: Sendable, Codable, Equatable {
      /// What an answer names.
      var id: String
      var name: String
      /// `allowOnce`, `allowAlways`, `rejectOnce`, `rejectAlways`, `cancel` or `other`.
      var kind: String
    }

    struct Field: Sendable, Codable, Equatable {
      /// What an answer names.
      var name: String
      var title: String
      var kind: String
      var choices: [String]?
      var isRequired: Bool
    }

    var agent: String
    var number: Int
    var title: String
    var at: Int64
    /// `pending`, `decided` or `canceled`.
    var state: String
    var options: [Option]
    /// The option that the fields belong to.
    var formOption: String?
    var fields: [Field]?
    /// What became of it, as a sentence.
    var outcome: String?
  }

  /// A time in which a link was of no use.
  struct Outage: Sendable, Codable, Equatable {
    struct Phase: Sendable, Codable, Equatable {
      var name: String
      /// In milliseconds.
      var duration: Double
    }

    var id: String
    var link: String
    var start: Int64
    var end: Int64?
    var phases: [Phase]
  }

  /// Names the run of the host: the numbers of events begin anew with each.
  var epoch: String
  /// When this was written.
  var now: Int64
  /// The number of the last event that is in it.
  var event: UInt64
  /// What the reader may do, and what its decisions are signed with.
  var access: ConsoleToken.Access
  var reader: String
  var host: Host?
  var links: [Link]
  /// The most severe first.
  var problems: [Problem]
  /// The oldest first.
  var hostKeys: [HostKey]
  /// The oldest first.
  var approvals: [Approval]
  /// The newest first.
  var outages: [Outage]
}

extension String {
  /// A peer's text in one bounded line.
  var shown: String { PeerText.escaped(self, limit: 1024) }
}
