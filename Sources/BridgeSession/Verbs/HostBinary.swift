package import BridgeErrors
import BridgeFiles
import BridgeSessionProtocol

/// The `bridge-host` to install, read from this machine.
package struct HostBinary: Sendable, Equatable {
  /// Its bytes.
  package let bytes: [UInt8]
  /// Its SHA-256, in lower-case hexadecimal digits.
  package let digest: String

  /// A larger file is no `bridge-host`, in bytes.
  private static let limit: UInt64 = 512 << 20

  /// Reads the program at `path`.
  ///
  /// - Throws: `fileNotFound`, `filePermissionDenied`, `fileReadError`.
  package init(path: String) throws(AppError) {
    guard !path.utf8.contains(0) else {
      throw .fileReadError(path: path, reason: "It is not a path.")
    }
    var bytes: [UInt8] = []
    do throws(SystemFailure) {
      let file = try OpenFile.named(Array(path.utf8))
      let status = try file.status()
      if status.kind == .file, status.size <= Self.limit {
        try file.read(at: 0, count: Int(status.size), into: &bytes)
      }
    } catch {
      throw FileFailure.error(error.ofSource, path: path, isTarget: false, host: "")
    }
    try self.init(bytes, path: path)
  }

  /// - Throws: `fileReadError` where these are no program for Linux.
  package init(_ bytes: [UInt8], path: String) throws(AppError) {
    guard bytes.starts(with: [0x7F, 0x45, 0x4C, 0x46]), bytes.count > 64 else {
      throw .fileReadError(path: path, reason: "It is not an executable for Linux (ELF).")
    }
    self.bytes = bytes
    digest = Hexadecimal.text(FileHash.digest(of: bytes))
  }

  /// Why it cannot run on a machine that uname(1) describes so; nil where it may. A processor that
  /// is not known is tried.
  package func refusal(of machine: String) -> String? {
    let words = machine.split(separator: " ")
    guard words.first == "Linux" else {
      return "bridge-host is for Linux, and the host is \(PeerText.escaped(machine, limit: 64))"
    }
    let code = UInt16(bytes[18]) | UInt16(bytes[19]) << 8
    guard let own = Self.processors[code], let other = words.last else { return nil }
    guard !own.contains(where: { other.hasPrefix($0) }) else { return nil }
    let shown = PeerText.escaped(String(other), limit: 64)
    return "bridge-host was built for \(own[0]), and the host's processor is \(shown)"
  }

  /// By the machine's number in an ELF header; as uname(1) calls them.
  private static let processors: [UInt16: [String]] = [
    3: ["i386", "i486", "i586", "i686"], 40: ["arm"], 62: ["x86_64", "amd64"],
    183: ["aarch64", "arm64"], 243: ["riscv64"],
  ]
}
