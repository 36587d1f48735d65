package import ArgumentParser
import BridgeErrors
import BridgeReactor
import BridgeSSH
import BridgeTerminal
import BridgeWebSocket

/// `bridgectl version`.
package struct VersionCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Print the versions of bridgectl and the linked libraries.")

  @Flag(help: "As JSON.")
  package var json = false

  /// Ours (semver.org).
  package static let current = "0.1.0"

  /// The line of `--version`.
  static var summary: String {
    "bridgectl \(current), libssh2 \(SSHLibraries.libssh2) (built with "
      + "\(SSHLibraries.libssh2Headers))"
  }

  /// Creates the command with its defaults.
  package init() {}

  /// The name and the version of each part, and the commit where the build has its stamp.
  package static func versions(_ stamp: BuildStamp? = .own) -> [(String, String)] {
    let build = stamp.map { [("commit", $0.commit), ("date", $0.date)] } ?? []
    return [("bridgectl", current)] + build + [
      ("libssh2", SSHLibraries.libssh2), ("libssh2Headers", SSHLibraries.libssh2Headers),
      ("libwebsockets", WebSocketLibraries.libwebsockets), ("libuv", Reactor.libraryVersion),
      ("openssl", SSHLibraries.openSSL),
    ]
  }

  /// Prints it.
  package func run() throws {
    let versions = Self.versions()
    let text: String
    if json {
      var line = JSONLine()
      for (name, version) in versions { line.add(name, version) }
      text = line.text + "\n"
    } else {
      text = versions.map { "\($0) \($1)\n" }.joined()
    }
    StandardOutput.end(with: text)
  }
}
