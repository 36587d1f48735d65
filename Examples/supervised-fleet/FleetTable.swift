/// The fleet on a terminal: a line for each pair of links, drawn over the last one.
struct FleetTable {
  private var height = 0

  /// The next frame; moves back to the top of the last one first (ECMA-48, CPL and EL).
  mutating func frame(_ states: [LinkRow]) -> String {
    var lines = ["\(states.count { $0.isUp }) of \(states.count) links are up"]
    for index in stride(from: 0, to: states.count, by: 2) {
      let cells = states[index..<min(index + 2, states.count)].map(cell)
      lines.append(cells.joined())
    }
    let up = height == 0 ? "" : "\u{1B}[\(height)F"
    height = lines.count
    return up + lines.map { $0 + "\u{1B}[K\n" }.joined()
  }

  private func cell(_ state: LinkRow) -> String {
    let color = state.isUp ? "32" : "33"
    let words = state.words.padding(to: 30)
    return "\(state.name.padding(to: 8))\u{1B}[\(color)m\(words)\u{1B}[0m"
  }
}

extension String {
  fileprivate func padding(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
