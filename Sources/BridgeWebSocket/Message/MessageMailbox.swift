import BridgeWaiting

/// The queue behind a `MessageStream`.
typealias MessageMailbox = Mailbox<WebSocketMessage>

extension MessageMailbox {
  /// The overhead of a message beside its bytes: empty ones must not pile up without a bound.
  static var overhead: Int { 64 }

  /// A queue for messages of `limit` bytes, each counted with what it costs to keep.
  convenience init(limit: Int, hasSpaceAgain: @escaping @Sendable () -> Void) {
    let rule = Rule(longestRow: 8) { $0.count + Self.overhead }
    self.init(limit: limit, rule, hasSpaceAgain: hasSpaceAgain)
  }
}
