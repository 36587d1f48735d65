import Foundation

/// Keys and certificates made by the openssl command for one test, gone with it.
final class Certificates: Sendable {
  /// How long a certificate is good for.
  enum Validity: String, Sendable {
    case now
    case past
    case future

    /// From and to, as openssl-ca(1) reads them.
    var dates: (from: String, to: String) {
      switch self {
      case .now: ("20200101000000Z", "20991231235959Z")
      case .past: ("20200101000000Z", "20200201000000Z")
      case .future: ("20980101000000Z", "20991231235959Z")
      }
    }
  }

  /// Why a certificate of the authority's does not verify, beside its dates and its name.
  enum Weakness: Sendable {
    case none
    /// A public key of 1024 bits.
    case smallKey
    /// Signed over a SHA-1 digest.
    case weakDigest
    /// One bit of the signature is another.
    case badSignature
  }

  let folder: String
  /// The authority's certificate.
  var authority: String { folder + "/ca.crt" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/ws-tls-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let settings = """
      [ca]
      default_ca = a
      [a]
      database = \(folder)/index.txt
      new_certs_dir = \(folder)
      serial = \(folder)/serial
      default_md = sha256
      policy = p
      unique_subject = no
      [p]
      commonName = supplied
      """
    try settings.write(toFile: folder + "/ca.conf", atomically: true, encoding: .utf8)
    try "".write(toFile: folder + "/index.txt", atomically: true, encoding: .utf8)
    try "01\n".write(toFile: folder + "/serial", atomically: true, encoding: .utf8)
    try selfSigned("ca", names: [])
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A key and a certificate that signs itself, as `name`.key and `name`.crt.
  func selfSigned(_ name: String, names: [String]) throws {
    let alternatives =
      names.isEmpty ? [] : ["-addext", "subjectAltName=" + names.joined(separator: ",")]
    try run(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", "\(name).key", "-out", "\(name).crt", "-days", "30", "-subj", "/CN=\(name)",
      ] + alternatives)
  }

  /// A key and a certificate of the authority's for `names` (`DNS:…`, `IP:…`).
  func issued(
    _ name: String, names: [String], validity: Validity = .now, weakness: Weakness = .none
  ) throws {
    let alternatives = "subjectAltName=" + names.joined(separator: ",")
    try alternatives.write(toFile: "\(folder)/\(name).ext", atomically: true, encoding: .utf8)
    let key =
      weakness == .smallKey
      ? ["rsa:1024"] : ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    try run(
      ["req", "-new", "-newkey"] + key + [
        "-nodes", "-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(name)",
      ])
    try run([
      "ca", "-config", "ca.conf", "-batch", "-notext", "-cert", "ca.crt", "-keyfile", "ca.key",
      "-in", "\(name).csr", "-out", "\(name).crt", "-extfile", "\(name).ext",
      "-startdate", validity.dates.from, "-enddate", validity.dates.to,
      "-md", weakness == .weakDigest ? "sha1" : "sha256",
    ])
    if weakness == .badSignature { try damageSignature(of: name) }
  }

  /// The signature is what a certificate ends with (RFC 5280, 4.1).
  private func damageSignature(of name: String) throws {
    try run(["x509", "-in", "\(name).crt", "-outform", "DER", "-out", "\(name).der"])
    let file = URL(fileURLWithPath: "\(folder)/\(name).der")
    var certificate = try Data(contentsOf: file)
    certificate[certificate.count - 1] ^= 1
    try certificate.write(to: file)
    try run(["x509", "-inform", "DER", "-in", "\(name).der", "-out", "\(name).crt"])
  }

  /// The key of `name`, encrypted with `passphrase`, as `name`.locked.
  func lock(_ name: String, with passphrase: String) throws {
    try run([
      "pkey", "-in", "\(name).key", "-aes256", "-passout", "pass:\(passphrase)", "-out",
      "\(name).locked",
    ])
  }

  /// The SHA-256 of the public key in `name`.crt, computed by openssl and not by us.
  func pin(_ name: String) throws -> [UInt8] {
    try run(["x509", "-in", "\(name).crt", "-pubkey", "-noout", "-out", "\(name).pem"])
    try run(["pkey", "-pubin", "-in", "\(name).pem", "-outform", "DER", "-out", "\(name).der"])
    try run(["dgst", "-sha256", "-binary", "-out", "\(name).pin", "\(name).der"])
    return Array(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).pin")))
  }

  struct CommandFailed: Error {
    var arguments: [String]
    var output: String
  }

  private func run(_ arguments: [String]) throws {
    let command = Process()
    command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    command.arguments = ["openssl"] + arguments
    command.currentDirectoryURL = URL(fileURLWithPath: folder)
    let output = Pipe()
    command.standardError = output
    command.standardOutput = output
    try command.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    command.waitUntilExit()
    guard command.terminationStatus == 0 else {
      throw CommandFailed(arguments: arguments, output: String(decoding: text, as: UTF8.self))
    }
  }
}
