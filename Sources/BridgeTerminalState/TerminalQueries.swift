/// The queries in a terminal's output.
public enum TerminalQueries {
  /// The last of them in `output`, which may begin and end anywhere; at most `limit` bytes in all.
  public static func last(in output: [UInt8], limit: Int) -> [UInt8] {
    var scanner = SequenceScanner()
    var found: [[UInt8]] = []
    var position = 0
    while let token = scanner.next(in: output[...], at: &position) {
      if case .sequence(let sequence) = token, sequence.isQuery {
        found.append(sequence.terminated)
      }
    }
    var length = 0
    let last = found.reversed().prefix { query in
      length += query.count
      return length <= limit
    }
    return last.reversed().flatMap(\.self)
  }
}
