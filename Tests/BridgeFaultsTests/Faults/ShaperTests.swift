import BridgeFaults
import NIOCore
import Testing

@Suite("What shapers decide, without sockets", .timeLimit(.minutes(5)))
struct ShaperTests {
  private func portion(_ text: String, due: Duration = .zero) -> Portion {
    Portion(ByteBuffer(string: text), due: due)
  }

  @Test func latencyMovesTheInstantAndNothingElse() {
    var latency = Latency.latency(.milliseconds(30))
    var generator = SplitMix64(seed: 1)
    let late = latency.shape(portion("x", due: .seconds(2)), generator: &generator)
    #expect(late.map(\.due) == [.milliseconds(2_030)])
    #expect(late.map(\.bytes) == [ByteBuffer(string: "x")])
  }

  @Test func jitterStaysInItsBoundsAndRepeatsWithItsSeed() {
    func delays(_ seed: UInt64) -> [Duration] {
      var latency = Latency.latency(.milliseconds(30), jitter: .milliseconds(10))
      var generator = SplitMix64(seed: seed)
      return (0..<200).flatMap { _ in latency.shape(portion("x"), generator: &generator) }.map(
        \.due)
    }
    #expect(delays(3).allSatisfy { (.milliseconds(20)...(.milliseconds(40))).contains($0) })
    #expect(delays(3) == delays(3))
    #expect(delays(3) != delays(4))
    #expect(Set(delays(3)).count > 100)
  }

  @Test func jitterNeverMovesAnythingBack() {
    var latency = Latency.latency(.zero, jitter: .milliseconds(10))
    var generator = SplitMix64(seed: 9)
    let dues = (0..<100).flatMap { _ in latency.shape(portion("x"), generator: &generator) }.map(
      \.due)
    #expect(dues.allSatisfy { $0 >= .zero })
  }

  @Test func lossMakesAShareOfThePacketsLateAndKeepsTheBytes() {
    var loss = Loss.loss(0.5, resent: .milliseconds(200))
    var generator = SplitMix64(seed: 1)
    let text = String(repeating: "x", count: 200 * 1_448)
    let packets = loss.shape(portion(text, due: .seconds(1)), generator: &generator)
    #expect(packets.count == 200)
    #expect(packets.map { String(buffer: $0.bytes) }.joined() == text)
    #expect(Set(packets.map(\.due)) == [.seconds(1), .milliseconds(1_200)])
    let late = packets.count { $0.due > .seconds(1) }
    #expect((60...140).contains(late))
    var none = Loss.loss(0)
    #expect(none.shape(portion(text), generator: &generator).allSatisfy { $0.due == .zero })
  }

  @Test func bandwidthGivesEachPieceItsTimeOnTheLine() {
    var line = Bandwidth.bandwidth(200)
    var generator = SplitMix64(seed: 1)
    let first = line.shape(portion("abcd"), generator: &generator)
    #expect(first.map(\.due) == [.milliseconds(10), .milliseconds(20)])
    let second = line.shape(portion("ef"), generator: &generator)
    #expect(second.map(\.due) == [.milliseconds(30)])
    let afterAPause = line.shape(portion("gh", due: .seconds(1)), generator: &generator)
    #expect(afterAPause.map(\.due) == [.milliseconds(1_010)])
  }

  @Test(arguments: [1, 2, 5, 100])
  func sliceKeepsTheBytes(size: Int) {
    var slice = Slice.slice(size)
    var generator = SplitMix64(seed: 1)
    let pieces = slice.shape(portion("hello"), generator: &generator)
    #expect(pieces.allSatisfy { $0.count <= size })
    #expect(pieces.map { String(buffer: $0.bytes) }.joined() == "hello")
  }

  @Test func cutCountsOverPortions() {
    var cut = Cut.cut(after: 7)
    var generator = SplitMix64(seed: 1)
    let first = cut.shape(portion("hello"), generator: &generator)
    #expect(first.map(\.ending) == [nil])
    let second = cut.shape(portion("world"), generator: &generator)
    #expect(second.map { String(buffer: $0.bytes) } == ["wo"])
    #expect(second.map(\.ending) == [.reset])
  }

  @Test(arguments: 0..<10)
  func corruptFindsItsByteInWhateverPortionItComes(offset: Int) {
    var corrupt = Corrupt.corrupt(at: offset)
    var generator = SplitMix64(seed: 1)
    let sent = ["hel", "", "lo wor", "ld"]
    let came = sent.flatMap { corrupt.shape(portion($0), generator: &generator) }
    let bytes = came.flatMap { Array($0.bytes.readableBytesView) }
    let changed = zip(bytes, Array(sent.joined().utf8)).enumerated()
      .filter { $0.element.0 != $0.element.1 }.map(\.offset)
    #expect(changed == [offset])
  }
}
