/// The shell of an account in the file of accounts (passwd(5)).
enum AccountFile {
  /// The shell that sshd runs commands with. A start-up file may have set SHELL to another, which
  /// would run them differently. Without the C library's look-up: a static program has no plug-ins
  /// of a directory service.
  static var shell: String? {
    let folder = try? Directory("/etc")
    let bytes = try? folder?.openForReading("passwd").read(at: 0, count: limit)
    return shell(of: Programs.user, named: Programs.variable("LOGNAME"), in: bytes ?? [])
  }

  /// The shell of `user`, as sshd takes it: `/bin/sh` where none is named; nil where the account is
  /// not in the file, as one of a directory service is not.
  ///
  /// - Parameter name: which of several accounts with one number is meant.
  static func shell(of user: UInt32, named name: String?, in file: [UInt8]) -> String? {
    let accounts = file.split(separator: UInt8(ascii: "\n")).map { line in
      line.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }
    }
    let own = accounts.filter { $0.count == 7 && UInt32($0[2]) == user }
    guard let account = own.first(where: { $0[0] == name }) ?? own.first else { return nil }
    return account[6].isEmpty ? "/bin/sh" : account[6]
  }

  /// More of the file is not looked at, in bytes.
  private static let limit = 1 << 20
}
