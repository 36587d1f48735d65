/// What cells refer to by number: styles, hyperlinks, and characters of several scalar values.
struct CellTable: Sendable {
  private(set) var styles = [CellStyle()]
  private var styleNumbers = [CellStyle(): 0]
  /// `parameters;address` of OSC 8; the first is none.
  private(set) var links: [[UInt8]] = [[]]
  /// UTF-8.
  private(set) var clusters: [[UInt8]] = []
  private var clusterNumbers: [[UInt8]: Int] = [:]
  private var linkBytes = 0
  /// What is no longer used is dropped at this size.
  private var dueAt = Self.smallest

  private static let smallest = 1024
  static let mostStyles = 0xFFFF
  static let mostClusters = 0x1F_FFFF
  static let mostLinks = 4096
  static let mostLinkBytes = 256 << 10
  static let longestLink = 2083
  /// Longer characters lose their last marks.
  static let longestCluster = 64

  /// Whether what is not used should be dropped before more is added.
  var isDue: Bool { styles.count + clusters.count + links.count >= dueAt }

  /// The number of a style; that of the terminal's own where there are too many.
  mutating func number(of style: CellStyle) -> Int {
    if let number = styleNumbers[style] { return number }
    guard styles.count < Self.mostStyles else { return 0 }
    styles.append(style)
    styleNumbers[style] = styles.count - 1
    return styles.count - 1
  }

  /// The number of a hyperlink; 0 for none, and where there are too many.
  mutating func number(ofLink link: [UInt8]) -> UInt16 {
    if let number = links.lastIndex(of: link) { return UInt16(number) }
    guard link.count <= Self.longestLink, links.count < Self.mostLinks,
      linkBytes + link.count <= Self.mostLinkBytes
    else { return 0 }
    links.append(link)
    linkBytes += link.count
    return UInt16(links.count - 1)
  }

  /// The number of a character; nil where there are too many.
  mutating func number(ofCluster bytes: [UInt8]) -> Int? {
    if let number = clusterNumbers[bytes] { return number }
    guard clusters.count < Self.mostClusters else { return nil }
    clusters.append(bytes)
    clusterNumbers[bytes] = clusters.count - 1
    return clusters.count - 1
  }

  /// The bytes of a cell's character.
  func append(_ cell: ScreenCell, to output: inout [UInt8], skipsTails: Bool = false) {
    if cell.isTail {
      if !skipsTails { output.append(0x20) }
    } else if cell.isCluster {
      output += clusters[Int(cell.content)]
    } else if cell.content < 0x80 {
      output.append(UInt8(cell.content))
    } else if let scalar = Unicode.Scalar(cell.content) {
      output += String(scalar).utf8
    }
  }

  /// What this table has that the cells and styles of `old` name, in new numbers.
  struct Move {
    var old: CellTable
    var new = CellTable()
    private var styles: [Int: Int] = [0: 0]

    init(_ old: CellTable) { self.old = old }

    mutating func style(_ style: CellStyle) -> CellStyle {
      var style = style
      if style.link != 0 { style.link = new.number(ofLink: old.links[Int(style.link)]) }
      return style
    }

    mutating func cell(_ word: UInt64) -> UInt64 {
      var cell = ScreenCell(word: word)
      if cell.style != 0 {
        let number = styles[cell.style] ?? new.number(of: style(old.styles[cell.style]))
        styles[cell.style] = number
        cell = cell.withStyle(number)
      }
      guard cell.isCluster else { return cell.word }
      let bytes = old.clusters[Int(cell.content)]
      return cell.withCluster(new.number(ofCluster: bytes) ?? 0).word
    }

    /// The new table. Where little was dropped, the next time is far.
    consuming func finish(cells: Int) -> CellTable {
      let live = new.styles.count + new.clusters.count + new.links.count
      new.dueAt = max(CellTable.smallest, live + max(live, cells / 8))
      return new
    }
  }
}
