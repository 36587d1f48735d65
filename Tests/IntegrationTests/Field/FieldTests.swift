import BridgeFaults
import Foundation
import Testing

/// Stories in worlds, with the real bridgectl: each is right, as `ssh` does it, or an error that
/// names the reason.
@Suite(.timeLimit(.minutes(60))) struct FieldTests {
  @Test func everyStoryEndsWellInEveryWorldThatIsTried() async throws {
    let table = await FieldTable.tell(FieldTable.cells)
    try table.write()
    for (cell, finding) in table.results where finding.kind != .skipped {
      let name = "\(cell.story.rawValue) in \(cell.world.name)"
      #expect(finding.isGood, "\(name): \(finding.remark)")
      if finding.isGood, let expected = cell.expected {
        #expect(finding.kind == expected, "\(name): \(finding.remark)")
      }
    }
  }

  @Test func theSuiteHasEachWorldInTwoStoriesAndEachStoryInSixWorlds() {
    for world in World.all {
      let stories = FieldTable.suite.filter { $0.world.name == world.name }.map(\.story)
      #expect(Set(stories).count >= 2, "\(world.name)")
    }
    for story in Story.allCases {
      let worlds = FieldTable.suite.filter { $0.story == story }.map(\.world.name)
      #expect(Set(worlds).count >= 6, "\(story.rawValue): \(worlds)")
    }
  }
}
