import BridgeCommands
import BridgeErrors
import Foundation
import Testing

@Suite("Where bridge-host is looked for") struct HostProgramSearchTests {
  private func search(
    _ executable: String, as name: String, path: String = "/usr/bin:/home/me/bin"
  ) -> HostProgramSearch {
    HostProgramSearch(executable: executable, startedAs: name, path: path) {
      $0 == "/home/me/bin/bridgectl"
    }
  }

  @Test func besideTheExecutable() {
    #expect(
      search("/opt/bridge/bridgectl", as: "/opt/bridge/bridgectl").candidates
        == ["/opt/bridge/bridge-host"])
  }

  @Test(arguments: ["bridgectl", "/home/me/bin/bridgectl"])
  func besideASymbolicLinkToIt(_ name: String) {
    let search = search("/opt/bridge/bridgectl", as: name)
    #expect(search.candidates == ["/opt/bridge/bridge-host", "/home/me/bin/bridge-host"])
    #expect(search.found { $0.hasPrefix("/home") } == "/home/me/bin/bridge-host")
  }

  @Test func inTheFolderInWhichItIsBuilt() throws {
    let search = search(
      "/src/bridge/.build/x86_64/release/bridgectl", as: ".build/release/bridgectl")
    #expect(search.candidates.last == "/src/bridge/.build-host/release/bridge-host")
    #expect(search.found { _ in false } == nil)
    let failure = search.failure
    #expect(failure.exitCode == 66 && failure.error.caseName == "fileNotFound")
    let remedy = try #require(failure.remedy)
    #expect(remedy.words.contains("in /src/bridge/.build/x86_64/release and "))
    #expect(remedy.of("me@web").command == "/src/bridge/scripts/bridgectl install me@web")
  }

  @Test func elsewhereTheOptionIsNamed() throws {
    let remedy = try #require(search("/bridgectl", as: "/bridgectl").failure.remedy)
    #expect(remedy.words.hasPrefix("It was looked for in /. "))
    #expect(remedy.of("web").command == "bridgectl install --binary FILE web")
  }
}
