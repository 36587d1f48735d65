package import BridgeTerminalState

/// What a client of a terminal shows of output that was printed before it was attached: mute what a
/// terminal would answer, the rest as it is.
package struct ScreenReplay: Sendable {
  private var filter: MuteFilter
  /// Output below was printed before this client was attached.
  private var live: UInt64
  private var isLive = false

  /// A replay that is mute up to `live`, on a terminal in `state`.
  package init(
    live: UInt64, for audience: MuteFilter.Audience, after state: TerminalState = TerminalState()
  ) {
    self.live = live
    filter = MuteFilter(audience, after: state)
  }

  /// Goes on up to `live` after an outage; false where it was over before.
  package mutating func extend(to live: UInt64) -> Bool {
    guard !isLive else { return false }
    self.live = max(live, self.live)
    return true
  }

  /// The sequences to show of those that come before the output at `offset`.
  package mutating func begin(with sequences: [UInt8], at offset: UInt64 = 0) -> [UInt8] {
    let shown = filter.filter(sequences)
    guard offset >= live, !sequences.isEmpty else { return shown }
    isLive = true
    return shown + filter.finish()
  }

  /// What comes from now on was printed for this client: the old output was left out.
  package mutating func end() { isLive = true }

  /// The bytes to show of those at `offset`.
  package mutating func show(_ bytes: [UInt8], at offset: UInt64) -> [UInt8] {
    guard !isLive else { return bytes }
    let old = offset < live ? Int(min(live - offset, UInt64(bytes.count))) : 0
    var shown = filter.filter(Array(bytes[..<old]))
    guard offset + UInt64(bytes.count) >= live else { return shown }
    isLive = true
    shown += filter.finish()
    return shown + bytes[old...]
  }
}
