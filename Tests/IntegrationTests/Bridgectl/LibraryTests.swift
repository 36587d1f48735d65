import BridgeFaults
import Foundation
import Testing

/// bridgectl with a libssh2 of another minor version than the one it was built with. A preloaded
/// object stands in for its `libssh2_version`.
@Suite(.timeLimit(.minutes(5))) struct LibraryTests {
  /// The environment that makes libssh2 report `version`.
  private static func reporting(
    _ version: String, in home: Home
  ) async throws -> [String: String] {
    try await preloading(
      "const char *libssh2_version(int required) { (void)required; return \"\(version)\"; }\n",
      in: home)
  }

  /// The environment with an object of the source `text` before all others.
  private static func preloading(
    _ text: String, in home: Home
  ) async throws -> [String: String] {
    try home.write(text, to: "version.c")
    let compiled = try await home.run(
      ["-shared", "-fPIC", "-o", home.file("version.so"), home.file("version.c")],
      program: "/usr/bin/cc")
    #expect(compiled.code == 0, "\(compiled.error)")
    return ["LD_PRELOAD": home.file("version.so")]
  }

  @Test(arguments: [
    ["connect", "-p", "1", "127.0.0.1"], ["run", "-p", "1", "127.0.0.1", "--", "true"],
    ["cp", "-p", "1", "127.0.0.1:a", "b"], ["doctor", "-p", "1", "127.0.0.1"], ["config", "h"],
  ])
  func anotherMinorVersionIsRefusedAtTheStart(_ arguments: [String]) async throws {
    let home = try Home()
    let environment = try await Self.reporting("1.99.3", in: home)
    let outcome = try await home.run(arguments, environment: environment)
    #expect(outcome.code == 78, "\(outcome.error)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.lastLine.hasPrefix("bridgectl: [featureUnavailable] "), "\(outcome.error)")
    #expect(outcome.lastLine.contains("SSH with libssh2 1.99.3 (this program was built with"))
    #expect(outcome.lastLine.contains("build it again on this machine, or install libssh2 1."))
  }

  @Test func theVersionsAndTheHelpAreStillPrinted() async throws {
    let home = try Home()
    let environment = try await Self.reporting("1.99.3", in: home)
    let line = try await home.run(["--version"], environment: environment)
    #expect(line.code == 0, "\(line.error)")
    #expect(line.text.contains(", libssh2 1.99.3 (built with 1.1"))
    let lines = try await home.run(["version"], environment: environment)
    #expect(lines.code == 0 && lines.text.contains("\nlibssh2 1.99.3\nlibssh2Headers 1.1"))
    for arguments in [["--help"], ["connect", "--help"], ["errors", "cancelled"]] {
      let outcome = try await home.run(arguments, environment: environment)
      #expect(outcome.code == 0, "\(arguments): \(outcome.error)")
    }
  }

  /// As of libfaketime: that moves the environment.
  @Test func anObjectThatSetsAVariableLeavesTheArguments() async throws {
    let home = try Home()
    let environment = try await Self.preloading(
      """
      #include <stdlib.h>
      __attribute__((constructor)) static void set(void) { setenv("MOVED", "yes", 1); }

      """, in: home)
    let outcome = try await home.run(
      ["connect", "-p", "1", "127.0.0.1", "", "é"], environment: environment)
    #expect(outcome.code == 69, "\(outcome.text)\(outcome.error)")
  }

  @Test func anotherPatchIsNot() async throws {
    let home = try Home()
    let version = try await home.run(["version"]).text.split(separator: "\n")
      .first { $0.hasPrefix("libssh2Headers ") }?.dropFirst(15)
    let minor = try #require(version).split(separator: ".").prefix(2).joined(separator: ".")
    let environment = try await Self.reporting("\(minor).99_DEV", in: home)
    let outcome = try await home.run(["connect", "-p", "1", "127.0.0.1"], environment: environment)
    #expect(outcome.code == 69, "\(outcome.error)")
  }
}
