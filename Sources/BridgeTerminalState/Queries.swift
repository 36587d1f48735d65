// What a terminal answers (xterm's "Control Sequences"; the protocols of kitty and iTerm2).
extension ControlSequence {
  /// Whether a terminal answers it.
  var isQuery: Bool {
    if isCSI { return isDeviceQuery }
    if isOSC { return isCommandQuery }
    if isAPC { return imageKeys.contains { $0.elementsEqual("a=q".utf8) } }
    // DECRQSS, XTGETTCAP and XTGETXRES.
    if isDCS { return ["$q", "+q", "+Q"].contains { content.starts(with: $0.utf8) } }
    // DECID.
    return bytes == [0x1B, UInt8(ascii: "Z")]
  }

  private var isDeviceQuery: Bool {
    let marker = marker
    switch (final, intermediate) {
    // DA1, DA2, DA3; with a question mark it is the cursor of the Linux console.
    case (UInt8(ascii: "c"), 0): return marker != UInt8(ascii: "?")
    // DSR and DECDSR; with another marker it sets a resource of the keyboard.
    case (UInt8(ascii: "n"), 0): return marker == 0 || marker == UInt8(ascii: "?")
    // DECREQTPARM.
    case (UInt8(ascii: "x"), 0): return marker == 0
    // DECRQM; DECRQPSR, DECRQTSR, DECRQUPSS and DECRQDE; DECRQCRA; the locator's place; DECRQPKFM.
    case (UInt8(ascii: "p"), UInt8(ascii: "$")), (UInt8(ascii: "w"), UInt8(ascii: "$")),
      (UInt8(ascii: "u"), UInt8(ascii: "$")), (UInt8(ascii: "u"), UInt8(ascii: "&")),
      (UInt8(ascii: "v"), UInt8(ascii: "\"")), (UInt8(ascii: "y"), UInt8(ascii: "*")),
      (UInt8(ascii: "|"), UInt8(ascii: "'")), (UInt8(ascii: "x"), UInt8(ascii: "+")):
      return true
    // XTREPORTCOLORS, XTREPORTSGR, XTTITLEPOS.
    case (UInt8(ascii: "R"), UInt8(ascii: "#")), (UInt8(ascii: "|"), UInt8(ascii: "#")),
      (UInt8(ascii: "S"), UInt8(ascii: "#")):
      return true
    // XTVERSION.
    case (UInt8(ascii: "q"), 0): return marker == UInt8(ascii: ">")
    // The keyboard flags of kitty; XTQMODKEYS and XTQFMTKEYS; XTSMGRAPHICS.
    case (UInt8(ascii: "u"), 0), (UInt8(ascii: "m"), 0), (UInt8(ascii: "f"), 0),
      (UInt8(ascii: "S"), 0):
      return marker == UInt8(ascii: "?")
    // Reports of the window's state, size and title.
    case (UInt8(ascii: "t"), 0):
      return marker == 0 && (11...21).contains((numbers.first ?? nil) ?? 0)
    case _: return false
    }
  }

  private var isCommandQuery: Bool {
    guard let (number, rest) = command else { return false }
    switch number {
    // A title may be a question mark, and an address may end with one.
    case 0, 1, 2, 8: return false
    // X properties, pointer shapes.
    case 3, 22: return rest.first == UInt8(ascii: "?")
    // Colors of kitty: `name=?`.
    case 21: return fields(rest).contains { $0.suffix(2).elementsEqual("=?".utf8) }
    // Which operations are allowed.
    case 60, 61: return true
    // Notifications of kitty: `p=?` and `p=alive` among the keys.
    case 99:
      let keys = (fields(rest).first ?? []).split(separator: UInt8(ascii: ":"))
      return keys.contains { $0.elementsEqual("p=?".utf8) || $0.elementsEqual("p=alive".utf8) }
    case 1337:
      return ["ReportCellSize", "ReportVariable=", "Capabilities", "RequestUpload="].contains {
        rest.starts(with: $0.utf8)
      }
    // The clipboard of kitty, which also answers what is written to it.
    case 5522: return true
    // A question mark in place of the value: colors, fonts, the clipboard (52), others.
    case _: return fields(rest).contains { $0.elementsEqual("?".utf8) }
    }
  }

  private func fields(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
  }

  /// Whether it is a message to the person in front: of iTerm2 (9), kitty (99) or rxvt (777).
  var isNotification: Bool {
    guard let (number, rest) = command else { return false }
    // With 9;4 a progress bar is set.
    return number == 99 || number == 777 || (number == 9 && !rest.starts(with: "4;".utf8))
  }

  /// The keys of an image of kitty: `G` and fields, up to a semicolon.
  private var imageKeys: [ArraySlice<UInt8>] {
    guard isAPC, content.first == UInt8(ascii: "G") else { return [] }
    let keys = content.dropFirst().prefix { $0 != UInt8(ascii: ";") }
    return keys.split(separator: UInt8(ascii: ","))
  }

  /// An image of kitty of which the terminal reports nothing; nil for anything else.
  var quietImage: [UInt8]? {
    guard isAPC, content.first == UInt8(ascii: "G") else { return nil }
    let keys = imageKeys.filter { !$0.starts(with: "q=".utf8) } + ["q=2".utf8.map(\.self)[...]]
    let rest = bytes.dropFirst(3).drop { $0 != UInt8(ascii: ";") && $0 != 0x1B }
    return bytes.prefix(3) + Array(keys.joined(separator: ",".utf8)) + rest
  }
}
