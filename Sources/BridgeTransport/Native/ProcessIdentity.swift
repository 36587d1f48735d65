import Glibc

/// The account that this process runs as, its machine and its environment.
package struct ProcessIdentity: Sendable {
  /// The environment's variables.
  package let variables: [String: String]
  /// The home directory, without a slash at its end: HOME, else that of the account.
  package let home: String
  /// The local user's name.
  package let user: String
  /// The local user's number.
  package let userID: UInt32
  /// This machine's name.
  package let hostName: String

  /// Those of this process. It may wait for a server that knows the accounts.
  package static func current() -> ProcessIdentity {
    let variables = environment()
    let account = account()
    var home = variables["HOME"] ?? account.home
    while home.count > 1, home.hasSuffix("/") { home.removeLast() }
    return ProcessIdentity(
      variables: variables, home: home, user: account.name, userID: getuid(),
      hostName: machineName())
  }

  private static func machineName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func account() -> (name: String, home: String) {
    guard let entry = unsafe getpwuid(getuid()) else { return ("\(getuid())", "/") }
    let name = unsafe entry.pointee.pw_name.map { unsafe String(cString: $0) }
    let home = unsafe entry.pointee.pw_dir.map { unsafe String(cString: $0) }
    return (name ?? "\(getuid())", home ?? "/")
  }

  private static func environment() -> [String: String] {
    var variables: [String: String] = [:]
    var next = unsafe environ
    while let line = unsafe next.pointee {
      let text = unsafe String(cString: line)
      if let mark = text.firstIndex(of: "=") {
        variables[String(text[..<mark])] = String(text[text.index(after: mark)...])
      }
      unsafe next += 1
    }
    return variables
  }
}
