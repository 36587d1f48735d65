import BridgeReactor
import Foundation
import Testing

/// A unix socket takes a free name, and removes no other file.
@Suite struct ListeningSocketTests {
  /// Runs `body` with a path in an empty directory.
  private func withPath(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(folder.appending(path: "s").path)
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  @Test func itsNameGoesWithIt() throws {
    try withPath { path in
      let socket = try ListeningSocket(path: path)
      #expect(isThere(path))
      socket.close()
      #expect(!isThere(path))
    }
  }

  @Test func aFileOfItsNameStays() throws {
    try withPath { path in
      try Data("precious".utf8).write(to: URL(filePath: path))
      #expect(throws: ListeningSocket.Failure.self) { try ListeningSocket(path: path) }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }
  }

  @Test func theSocketOfAnotherProgramStays() throws {
    try withPath { path in
      let first = try ListeningSocket(path: path)
      let error = #expect(throws: ListeningSocket.Failure.self) { try ListeningSocket(path: path) }
      #expect(error?.isInUse == true)
      #expect(isThere(path))
      first.close()
    }
  }

  /// StreamLocalBindUnlink: one that was left behind, or one that another program has.
  @Test func aSocketOfItsNameMayBeReplaced() throws {
    try withPath { path in
      let first = try ListeningSocket(path: path)
      let second = try ListeningSocket(path: path, replaces: true)
      first.close()
      #expect(isThere(path))
      second.close()
      #expect(!isThere(path))
    }
  }

  @Test(arguments: ["file", "link to a socket", "directory"])
  func whatIsNoSocketIsNotReplaced(kind: String) throws {
    try withPath { path in
      let first = try ListeningSocket(path: path + "s")
      switch kind {
      case "file": try Data("precious".utf8).write(to: URL(filePath: path))
      case "directory":
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      case _:
        try FileManager.default.createSymbolicLink(
          atPath: path, withDestinationPath: path + "s")
      }
      let error = #expect(throws: ListeningSocket.Failure.self) {
        try ListeningSocket(path: path, replaces: true)
      }
      #expect(error?.isInUse == true)
      #expect(isThere(path))
      first.close()
    }
  }

  @Test func whatTookItsNameStays() throws {
    try withPath { path in
      let socket = try ListeningSocket(path: path)
      try FileManager.default.removeItem(atPath: path)
      try Data("another".utf8).write(to: URL(filePath: path))
      socket.close()
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "another")
    }
  }

  @Test func aPathThatIsTooLongIsRefused() throws {
    try withPath { path in
      let long = path + String(repeating: "x", count: 108)
      #expect(throws: ListeningSocket.Failure.self) { try ListeningSocket(path: long) }
    }
  }
}
