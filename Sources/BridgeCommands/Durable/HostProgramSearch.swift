import BridgeErrors
import BridgeTerminal
import FoundationEssentials

/// Where the `bridge-host` to install is looked for where none is named.
package struct HostProgramSearch: Sendable, Equatable {
  /// The files that may be it, the best first.
  package let candidates: [String]
  /// The sources of this program, where it stands in the folder in which they are built.
  private let sources: String?

  /// A search for the executable at `executable`, which was started as `name` with this PATH.
  ///
  /// - Parameter isExecutable: whether there is a program at a path.
  package init(
    executable: String, startedAs name: String, path: String,
    isExecutable: (String) -> Bool = { FileManager.default.isExecutableFile(atPath: $0) }
  ) {
    let folder = Self.folder(of: executable)
    // The folder of a symbolic link, which the executable does not know.
    let named =
      name.contains("/")
      ? [Self.folder(of: name)]
      : path.split(separator: ":").map(String.init).filter { isExecutable("\($0)/\(name)") }
    var found = [folder] + named.prefix(1)
    let parts = folder.components(separatedBy: "/.build/")
    sources = parts.count > 1 ? parts[0] : nil
    if let sources { found.append("\(sources)/.build-host/release") }
    var candidates: [String] = []
    for folder in found where !candidates.contains("\(folder)/bridge-host") {
      candidates.append("\(folder)/bridge-host")
    }
    self.candidates = candidates
  }

  /// The search of this process.
  package static var own: HostProgramSearch {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return HostProgramSearch(
      executable: own ?? "", startedAs: LocalEnvironment.arguments.first ?? "",
      path: ProcessInfo.processInfo.environment["PATH"] ?? "")
  }

  /// The first of the candidates that there is.
  package func found(
    where exists: (String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
  ) -> String? {
    candidates.first(where: exists)
  }

  /// That there is none, where it was looked for, and the command that makes one.
  package var failure: CommandFailure {
    let folders = candidates.map { PeerText.escaped(Self.folder(of: $0), limit: 256) }
    var failure = CommandFailure(error: .fileNotFound(path: candidates[0]))
    let looked = "It was looked for in \(folders.joined(separator: " and "))."
    failure.remedy =
      if let sources {
        CommandAdvice.Row(
          "\(looked) This builds it from the sources, and installs it:",
          "\(PeerText.escaped(sources, limit: 512))/scripts/bridgectl install HOST")
      } else {
        CommandAdvice.Row(
          "\(looked) `scripts/build-host` makes one from the sources; then:",
          "bridgectl install --binary FILE HOST")
      }
    return failure
  }

  private static func folder(of path: String) -> String {
    let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return folder == [""] ? "/" : folder.joined(separator: "/")
  }
}
