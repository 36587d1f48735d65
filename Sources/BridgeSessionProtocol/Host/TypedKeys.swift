/// What of the input of a terminal a person may have typed. The rest is sent by the terminal
/// itself: answers to queries, or a transfer of files (ZMODEM) whose data must not be left out.
enum TypedKeys {
  /// Introducers of strings: DCS, OSC, APC.
  private static let strings: Set<UInt8> = [0x50, 0x5D, 0x5F]
  /// Final bytes of reports (xterm, "Control Sequences"): DA, DSR, CPR, window, DECRPM.
  private static let reports: Set<UInt8> = [0x63, 0x6E, 0x52, 0x74, 0x79]

  static func mayBe(_ bytes: [UInt8]) -> Bool {
    // ZMODEM begins each header with ZDLE (CAN).
    guard let first = bytes.first, let last = bytes.last, !bytes.contains(0x18) else {
      return false
    }
    guard first == 0x1B, bytes.count > 2 else { return true }
    if strings.contains(bytes[1]) { return false }
    return bytes[1] != UInt8(ascii: "[") || !reports.contains(last)
  }
}
