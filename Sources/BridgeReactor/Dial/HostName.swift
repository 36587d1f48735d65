/// Host names as the domain name system has them.
package enum HostName {
  /// The longest name (RFC 1035, 2.3.4), a dot at its end left out.
  private static let longest = 253
  private static let longestLabel = 63

  /// `host` with each label that is not ASCII in its ASCII form (RFC 3490, ToASCII without the
  /// mapping of characters); nil for what cannot be a host's name.
  package static func ascii(_ host: String) -> String? {
    guard !host.utf8.contains(0), host.utf8.count <= 4 * longest else { return nil }
    if host.utf8.allSatisfy({ $0 < 128 }) { return host.utf8.count <= longest + 1 ? host : nil }
    var labels: [String] = []
    // Full stops of other scripts divide labels as well (RFC 3490, 3.1).
    let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{ff0e}", "\u{ff61}"]
    for label in host.unicodeScalars.split(
      omittingEmptySubsequences: false, whereSeparator: { dots.contains($0) })
    {
      let isASCII = label.allSatisfy(\.isASCII)
      let text = isASCII ? String(Substring(label)) : "xn--" + Punycode.encode(Array(label))
      guard text.utf8.count <= longestLabel else { return nil }
      labels.append(text)
    }
    let name = labels.joined(separator: ".")
    return name.utf8.count <= longest + 1 ? name : nil
  }
}

/// Punycode (RFC 3492).
package enum Punycode {
  private static let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".unicodeScalars)
  private static let (base, least, most, skew, damp) = (36, 1, 26, 38, 700)

  /// `text` in ASCII. For labels: at most some hundred characters.
  package static func encode(_ text: [Unicode.Scalar]) -> String {
    var output = String.UnicodeScalarView(text.filter(\.isASCII))
    let basicCount = output.count
    if basicCount > 0 { output.append("-") }
    var (next, delta, bias, done) = (128, 0, 72, basicCount)
    let others = Set(text.lazy.map { Int($0.value) }.filter { $0 >= 128 }).sorted()
    for scalar in others {
      delta += (scalar - next) * (done + 1)
      next = scalar
      for value in text.map({ Int($0.value) }) {
        if value < next { delta += 1 }
        guard value == next else { continue }
        output.append(contentsOf: number(delta, bias: bias))
        bias = adapted(delta, count: done + 1, isFirst: done == basicCount)
        delta = 0
        done += 1
      }
      delta += 1
      next += 1
    }
    return String(output)
  }

  /// `delta` as a generalized variable-length integer (RFC 3492, 3.3).
  private static func number(_ delta: Int, bias: Int) -> [Unicode.Scalar] {
    var symbols: [Unicode.Scalar] = []
    var (rest, position) = (delta, base)
    while true {
      let threshold = min(max(position - bias, least), most)
      guard rest >= threshold else { break }
      symbols.append(digits[threshold + (rest - threshold) % (base - threshold)])
      rest = (rest - threshold) / (base - threshold)
      position += base
    }
    return symbols + [digits[rest]]
  }

  private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
    var delta = isFirst ? delta / damp : delta / 2
    delta += delta / count
    var steps = 0
    while delta > (base - least) * most / 2 {
      delta /= base - least
      steps += base
    }
    return steps + (base - least + 1) * delta / (delta + skew)
  }
}
