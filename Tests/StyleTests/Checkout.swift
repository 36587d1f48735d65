import Foundation

/// The checkout these tests were compiled from.
enum Checkout {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static let areas = [
    ".ci", "Benchmarks", "Examples", "Sources", "Tests", "docs", "scripts",
  ]

  /// Every text file of ours, build products left out.
  static let files: [SourceFile] = (areas.flatMap(paths(under:)) + documents).sorted()
    .compactMap { path in
      guard let data = FileManager.default.contents(atPath: root.appending(path: path).path),
        let text = String(data: data, encoding: .utf8)
      else { return nil }
      return SourceFile(path, text)
    }

  private static var documents: [String] {
    names(in: "").filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
  }

  private static func names(in folder: String) -> [String] {
    let path = root.appending(path: folder).path
    return (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
  }

  private static func paths(under folder: String) -> [String] {
    names(in: folder).filter { !$0.hasPrefix(".") && $0 != "Package.resolved" }
      .flatMap { name -> [String] in
        let path = folder + "/" + name
        let values = try? root.appending(path: path).resourceValues(forKeys: [.isDirectoryKey])
        return values?.isDirectory == true ? paths(under: path) : [path]
      }
  }

  /// What a program printed and how it ended.
  struct Output {
    var status: Int32
    var text: String
  }

  /// Runs a program at the root and waits for it; nil where it does not exist.
  static func run(_ arguments: [String]) -> Output? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = root
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    guard (try? process.run()) != nil else { return nil }
    let data = (try? pipe.fileHandleForReading.readToEnd()) ?? Data()
    process.waitUntilExit()
    // env(1): 127 is "not found".
    guard process.terminationStatus != 127 else { return nil }
    return Output(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
  }
}
