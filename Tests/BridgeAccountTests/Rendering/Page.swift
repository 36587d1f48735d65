import Foundation

/// A page as a test sees it: its elements in order, as they are written.
struct Page {
  struct Element {
    var name: String
    /// Everything between `<` and `>`.
    var tag: String
    /// The text up to the next tag.
    var text: String

    func value(_ attribute: String) -> String? {
      guard let start = tag.range(of: " \(attribute)=\"") else { return nil }
      return tag[start.upperBound...].split(
        separator: "\"", maxSplits: 1, omittingEmptySubsequences: false
      ).first.map(String.init)
    }

    func has(_ attribute: String) -> Bool {
      tag.split(separator: " ").contains { $0 == attribute }
    }
  }

  let elements: [Element]

  init(_ html: String) {
    elements = html.split(separator: "<").dropFirst(html.hasPrefix("<") ? 0 : 1).map { piece in
      let parts = piece.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
      let tag = String(parts[0])
      return Element(
        name: String(tag.prefix { $0 != " " }), tag: tag,
        text: parts.count > 1 ? String(parts[1]) : "")
    }
  }

  func all(_ name: String) -> [Element] {
    elements.filter { $0.name == name }
  }

  func element(id: String) -> Element? {
    elements.first { $0.value("id") == id }
  }

  func index(ofID id: String) -> Int? {
    elements.firstIndex { $0.value("id") == id }
  }
}
