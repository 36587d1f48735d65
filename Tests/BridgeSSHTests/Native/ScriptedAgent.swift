import BridgeSSH
import Foundation
import Glibc

/// Something at a Unix socket that an ssh-agent's clients find: it answers each request as told.
final class ScriptedAgent: Sendable {
  /// What it does with a request.
  enum Answer: Sendable {
    /// These bytes, as they are.
    case bytes([UInt8])
    /// The end of the conversation.
    case end
    /// Nothing, ever.
    case silence
    /// What this makes of the message to sign.
    case signature(@Sendable ([UInt8]) -> [UInt8])
  }

  let path: String
  private let listener: Int32

  /// Listens in `directory`, and answers who asks for its keys and who asks for a signature.
  init(in directory: TemporaryDirectory, list: Answer, sign: Answer = .end) throws {
    let path = directory.file("agent")
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, size)
      }
    }
    guard bound == 0, listen(listener, 4) == 0 else { throw POSIXError(.EADDRINUSE) }
    self.path = path
    self.listener = listener
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        Thread.detachNewThread { Self.talk(client, list, sign) }
      }
    }
  }

  /// Ends the listener; conversations end with their clients.
  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func talk(_ client: Int32, _ list: Answer, _ sign: Answer) {
    defer {
      // A program that another test started meanwhile may have inherited it: closing is no end.
      shutdown(client, Int32(SHUT_RDWR))
      close(client)
    }
    var request = [UInt8](repeating: 0, count: 4096)
    while unsafe recv(client, &request, request.count, 0) > 0 {
      // SSH_AGENTC_SIGN_REQUEST
      switch request[4] == 13 ? sign : list {
      case .bytes(let bytes): _ = unsafe send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      case .end: return
      case .silence: break
      case .signature(let sign):
        var reader = WireReader(Array(request.dropFirst(5)))
        _ = reader.string()
        var body = WireWriter()
        body.byte(14)
        body.string(sign(reader.string() ?? []))
        var message = WireWriter()
        message.string(body.bytes)
        _ = unsafe send(client, message.bytes, message.bytes.count, Int32(MSG_NOSIGNAL))
      }
    }
  }

  /// SSH_AGENT_FAILURE.
  static let failure: [UInt8] = [0, 0, 0, 1, 5]

  /// SSH_AGENT_IDENTITIES_ANSWER with these keys.
  static func identities(_ blobs: [[UInt8]]) -> [UInt8] {
    var body = WireWriter()
    body.byte(12)
    body.uint32(UInt32(blobs.count))
    for blob in blobs {
      body.string(blob)
      body.string("comment")
    }
    var message = WireWriter()
    message.string(body.bytes)
    return message.bytes
  }
}
