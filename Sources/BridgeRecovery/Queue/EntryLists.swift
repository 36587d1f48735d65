/// Doubly linked lists of small integers in shared arrays: appending, removing and moving any of
/// them takes constant time, and memory is as many slots as were ever in use at once.
struct EntryLists: Sendable {
  private struct Link: Sendable {
    var previous = EntryLists.none
    var next = EntryLists.none
    var list = EntryLists.none
  }

  private static let none = -1
  private var links: [Link] = []
  private var heads: [Int]
  private var tails: [Int]

  /// So many empty lists.
  init(count: Int) {
    heads = Array(repeating: Self.none, count: count)
    tails = heads
  }

  /// The first slot of `list`.
  func first(of list: Int) -> Int? { heads[list] == Self.none ? nil : heads[list] }

  /// The last slot of `list`.
  func last(of list: Int) -> Int? { tails[list] == Self.none ? nil : tails[list] }

  /// The slot after `slot` in its list.
  func next(after slot: Int) -> Int? { links[slot].next == Self.none ? nil : links[slot].next }

  /// The list that `slot` is in.
  func list(of slot: Int) -> Int { links[slot].list }

  /// Puts `slot`, which is in no list, at the end of `list`.
  mutating func append(_ slot: Int, to list: Int) {
    while links.count <= slot { links.append(Link()) }
    let last = tails[list]
    links[slot] = Link(previous: last, next: Self.none, list: list)
    if last == Self.none { heads[list] = slot } else { links[last].next = slot }
    tails[list] = slot
  }

  /// Takes `slot` out of its list.
  mutating func remove(_ slot: Int) {
    let link = links[slot]
    if link.previous == Self.none {
      heads[link.list] = link.next
    } else {
      links[link.previous].next = link.next
    }
    if link.next == Self.none {
      tails[link.list] = link.previous
    } else {
      links[link.next].previous = link.previous
    }
    links[slot] = Link()
  }
}
