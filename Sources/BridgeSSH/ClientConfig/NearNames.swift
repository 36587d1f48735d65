/// Similar names, for suggestions.
package enum NearNames {
  private static let most = 3

  /// The entries of `names` that contain `name`, or differ from it by few letters; the nearest
  /// first.
  package static func of(_ name: String, among names: [String]) -> [String] {
    let wanted = Array(name.lowercased().unicodeScalars.prefix(64))
    guard !wanted.isEmpty else { return [] }
    let limit = max(1, wanted.count / 3)
    let near = names.compactMap { candidate -> (name: String, distance: Int)? in
      let scalars = Array(candidate.lowercased().unicodeScalars)
      if wanted.count > 2, contains(scalars, wanted) { return (candidate, 0) }
      let distance = distance(wanted, scalars)
      return distance <= limit ? (candidate, distance) : nil
    }
    return near.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(most).map(\.name)
  }

  private static func contains(_ text: [Unicode.Scalar], _ part: [Unicode.Scalar]) -> Bool {
    guard text.count >= part.count else { return false }
    return (0...(text.count - part.count)).contains { text[$0...].starts(with: part) }
  }

  /// The number of letters to insert, delete or replace (Levenshtein).
  private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var row = Array(0...right.count)
    for (index, scalar) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let replaced = diagonal + (scalar == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
