/// A sign for an SF Symbol where there are no SF Symbols.
struct Glyph {
  let unicode: String
  let ascii: String

  /// The sign for the symbol of this name; a general one for names that the catalogue does not use.
  init(icon: String) {
    (unicode, ascii) =
      switch icon {
      case "wifi.slash": ("⊘", "(/)")
      case "clock.badge.exclamationmark": ("◷", "(t)")
      case "server.rack": ("▤", "[=]")
      case "antenna.radiowaves.left.and.right.slash": ("⇎", "</>")
      case "hourglass": ("⧗", "...")
      case "terminal": ("❯", ">_")
      case "doc.questionmark": ("▯", "[?]")
      case "lock.shield": ("⊠", "[#]")
      case "exclamationmark.triangle": ("⚠", "/!\\")
      case "xmark": ("✕", "x")
      default: ("●", "(!)")
      }
  }
}
