/// The file `env` of a session: what the writer's environment has now, for a shell to source.
struct EnvironmentFile {
  static let name = "env"

  /// A line for each variable whose name a shell takes.
  let bytes: [UInt8]

  init(_ variables: [[UInt8]]) {
    bytes = variables.flatMap(Self.line)
  }

  private static func line(_ variable: [UInt8]) -> [UInt8] {
    let name = variable.prefix { $0 != UInt8(ascii: "=") }
    let value = variable.dropFirst(name.count + 1)
    guard name.count < variable.count, isName(name), !value.contains(0) else { return [] }
    // Within single quotes only the quote itself ends them.
    let quoted = value.flatMap { $0 == quote ? Array("'\\''".utf8) : [$0] }
    return Array("export ".utf8) + name + Array("='".utf8) + quoted + Array("'\n".utf8)
  }

  private static let quote = UInt8(ascii: "'")

  private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
    guard let first = name.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
      return false
    }
    return name.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
  }
}
