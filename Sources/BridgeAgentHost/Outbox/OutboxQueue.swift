import BridgeStore

/// Messages in the order in which they are delivered, and how far each has come.
///
/// A connection that ends takes what it had not proven with it: that is sent again over the next
/// one, in the same order and under the same ids.
struct OutboxQueue: Sendable {
  private struct Entry: Sendable {
    var message: OutboxMessage
    var isDelivered = false
    /// Whether it is not to be sent yet, nor what is behind it.
    var isHeld = false
  }

  /// Those behind the first one that was not delivered, and before `head` delivered ones that were
  /// not removed yet: removing each by itself would move all others.
  private var entries: [Entry] = []
  private var head = 0
  /// The number of the first entry.
  private var first = 0
  /// Entries before this one were sent over this connection.
  private var sent = 0
  /// Entries before this one were sent over any, or are being sent: the answer may be faster than
  /// the return of the call that sends.
  private var begun = 0
  /// The size of the entries that were not delivered, in bytes of UTF-8.
  private(set) var size = 0

  /// Adds a message; returns its number, which counts from 0.
  ///
  /// - Parameter isHeld: whether it is not sent before `release`.
  mutating func append(_ message: OutboxMessage, isHeld: Bool = false) -> Int {
    entries.append(Entry(message: message, isHeld: isHeld))
    size += Self.size(of: message)
    return first + entries.count - 1
  }

  /// A message that was held may be sent.
  mutating func release(_ number: Int) { entries[number - first].isHeld = false }

  /// A message that was held is not sent.
  mutating func drop(_ number: Int) {
    deliver(number - first)
    removeDelivered()
  }

  /// The next message to send, and its number; nil where all were, or it is held.
  mutating func begin() -> (number: Int, message: OutboxMessage)? {
    while sent < entries.count, entries[sent].isDelivered { sent += 1 }
    guard sent < entries.count, !entries[sent].isHeld else { return nil }
    begun = max(begun, sent + 1)
    return (first + sent, entries[sent].message)
  }

  /// The message of this number was sent over this connection.
  mutating func recordSent(_ number: Int) { sent = max(sent, number - first + 1) }

  /// Everything that was not delivered is sent again, over another connection.
  mutating func restart() { sent = head }

  /// The number behind the last message that was sent over this connection and not delivered; nil
  /// where there is none.
  var unproven: Int? {
    guard head < sent else { return nil }
    return entries[head..<sent].lastIndex { !$0.isDelivered }.map { first + $0 + 1 }
  }

  /// All messages below `end` have arrived; returns the numbers of those that had not before.
  mutating func prove(below end: Int) -> [Int] {
    var numbers: [Int] = []
    for index in head..<max(head, min(end - first, entries.count))
    where !entries[index].isDelivered {
      deliver(index)
      numbers.append(first + index)
    }
    removeDelivered()
    return numbers
  }

  /// The peer has acknowledged the message `id`; returns its number, nil where none that was sent
  /// has the id.
  mutating func acknowledge(_ id: String) -> Int? {
    guard head < begun,
      let index = entries[head..<begun].firstIndex(where: { !$0.isDelivered && $0.message.id == id }
      )
    else { return nil }
    let number = first + index
    deliver(index)
    removeDelivered()
    return number
  }

  /// Whether the message of this number has arrived.
  func isDelivered(_ number: Int) -> Bool {
    number < first + head || entries[number - first].isDelivered
  }

  /// The messages that are not known to have arrived, in order.
  var undelivered: [OutboxMessage] {
    entries[head...].filter { !$0.isDelivered }.map(\.message)
  }

  private mutating func deliver(_ index: Int) {
    entries[index].isDelivered = true
    size -= Self.size(of: entries[index].message)
    entries[index].message.text = ""
  }

  private mutating func removeDelivered() {
    while head < entries.count, entries[head].isDelivered { head += 1 }
    sent = max(sent, head)
    guard head > 1024, head * 2 > entries.count else { return }
    entries.removeFirst(head)
    first += head
    sent -= head
    begun = max(0, begun - head)
    head = 0
  }

  private static func size(of message: OutboxMessage) -> Int {
    message.text.utf8.count + message.id.utf8.count
  }
}
