import BridgeSessionProtocol

/// What a new client of a terminal shows: old output mute, the rest as it is.
package struct ScreenReplay: Sendable {
  private var filter = MuteFilter()
  /// Output below was printed before this client attached.
  private let live: UInt64
  private var isLive = false

  /// A replay that is mute up to `live`.
  package init(live: UInt64) { self.live = live }

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
