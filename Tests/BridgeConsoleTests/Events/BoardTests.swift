import BridgeWaiting
import Foundation
import Testing

@testable import BridgeConsole

@Suite("What the page shows") struct BoardTests {
  private let board = Board(ConsoleLimits(streams: 2, events: 8))
  private let visitor = Visitor(name: "ada", access: .view)

  private func link(_ name: String, _ state: ConsoleState.Link.State) -> ConsoleState.Link {
    ConsoleState.Link(id: "0.\(name)", name: name, state: state, since: 1)
  }

  private func problem(_ id: String, _ severity: String) -> ConsoleState.Problem {
    ConsoleState.Problem(
      id: id, severity: severity, title: "t", message: "m", count: 1, needsPerson: true,
      options: [])
  }

  private var state: ConsoleState { board.snapshot(for: visitor, at: Date()) }

  private func names(after number: UInt64) -> [String] {
    guard case (.events(let events), _) = board.read(after: number, beat: 0) else { return [] }
    return events.map(\.name)
  }

  @Test func theStateHasTheNumberOfItsLastEvent() {
    board.show(link("a", .up))
    #expect(state.links.map(\.name) == ["a"] && state.event == 1)
    board.removeLink("0.a")
    board.removeLink("0.a")
    #expect(state.links.isEmpty && state.event == 2)
    #expect(names(after: 0) == ["link", "linkGone"])
    #expect(state.reader == "ada" && state.access == .view)
  }

  @Test func whatIsTheSameIsNoEvent() {
    board.show([problem("1", "error")], of: 0)
    board.show([problem("1", "error")], of: 0)
    board.show([], of: 1)
    board.show(nil as [ConsoleState.Approval]?, of: "a")
    #expect(state.event == 1)
  }

  @Test func problemsOfAllSupervisorsAreInOrderOfSeverity() {
    board.show([problem("1", "error"), problem("2", "info")], of: 0)
    board.show([problem("3", "critical"), problem("4", "error")], of: 1)
    #expect(state.problems.map(\.id) == ["3", "1", "4", "2"])
    board.show([], of: 1)
    #expect(state.problems.map(\.id) == ["1", "2"])
  }

  @Test func outagesAreTheNewestAndBounded() {
    for number in 0..<(Board.outages + 10) {
      board.show([
        ConsoleState.Outage(id: "\(number)", link: "l", start: Int64(number), phases: [])
      ])
    }
    #expect(state.outages.count == Board.outages)
    #expect(state.outages.first?.id == "\(Board.outages + 9)")
    board.show([ConsoleState.Outage(id: "58", link: "l", start: 58, end: 60, phases: [])])
    #expect(state.outages.count == Board.outages && state.outages[1].end == 60)
  }

  @Test func aReaderThatIsTooSlowGoesOnWithTheState() {
    for number in 0..<20 { board.show(link("\(number)", .up)) }
    guard case (.missed(20), _) = board.read(after: 0, beat: 0) else {
      Issue.record("nothing missed")
      return
    }
    #expect(board.missed == 20)
    #expect(names(after: state.event) == [])
  }

  @Test func aQuietStreamShowsThatItIsAlive() {
    board.beat()
    guard case (.beat, let beat) = board.read(after: 0, beat: 0) else {
      Issue.record("no beat")
      return
    }
    guard case (.nothing, _) = board.read(after: 0, beat: beat) else {
      Issue.record("a beat too many")
      return
    }
    board.end()
    guard case (.end, _) = board.read(after: 0, beat: beat) else {
      Issue.record("no end")
      return
    }
    #expect(board.place(for: .stream) == nil)
  }

  @Test func streamsAreBounded() throws {
    let first = try #require(board.place(for: .stream))
    var second = board.place(for: .stream)
    #expect(second != nil && board.place(for: .stream) == nil)
    // Screens have places of their own.
    #expect(board.place(for: .screen) != nil)
    second = nil
    #expect(board.count(of: .stream) == 1)
    second = board.place(for: .stream)
    #expect(second != nil && board.count(of: .stream) == 2)
    withExtendedLifetime((first, second)) {}
  }
}
