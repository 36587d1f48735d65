/// A number of things in words.
enum Counted {
  /// "1 byte", "2 bytes".
  static func text(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(count) \(noun)" + (count == 1 ? "" : "s")
  }
}
