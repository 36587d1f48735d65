import BridgeErrors
import BridgeReactor
import CLibSSH2
import Glibc

/// A conversation with an ssh-agent, one request at a time. It blocks: use it on a helper thread.
struct AgentSocket {
  private let socket: Socket

  /// A conversation with the agent at `path`, of which no read or write takes longer than
  /// `timeout`: an agent may ask its owner first.
  ///
  /// - Throws: `agentUnavailable` in words.
  init(path: String, timeout: Duration) throws(AgentProblem) {
    let descriptor = Glibc.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else {
      throw AgentProblem(reason: "No socket to the ssh-agent can be made.", errno: Glibc.errno)
    }
    socket = Socket(descriptor: descriptor)
    // Zero would mean forever.
    let microseconds = max(1000, Int(timeout / .microseconds(1)))
    var limit = timeval(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    let size = socklen_t(MemoryLayout<timeval>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
    guard Self.connect(descriptor, to: path) else {
      throw AgentProblem(reason: "No ssh-agent answers at its socket (SSH_AUTH_SOCK).")
    }
  }

  /// The keys it holds.
  func identities() throws(AgentProblem) -> [AgentIdentity] {
    guard case .identities(let keys) = try ask(.identities) else {
      throw AgentProblem(reason: "The ssh-agent refused to list its keys.")
    }
    return keys
  }

  /// The signature of `data` by the key `blob`, with its type's name in front (RFC 4253, 6.6).
  func sign(
    _ data: [UInt8], with blob: [UInt8], flags: UInt32
  ) throws(AgentProblem) -> [UInt8] {
    guard case .signature(let bytes) = try ask(.sign(blob: blob, data: data, flags: flags)) else {
      throw AgentProblem(
        reason: "The ssh-agent refused to sign with the key: it was not confirmed there, or the "
          + "key may be used for certain hosts only.")
    }
    return bytes
  }

  /// The answer to a request of another program, both without their lengths in front.
  func relay(_ request: [UInt8]) throws(AgentProblem) -> [UInt8] {
    var message = WireWriter()
    message.string(request)
    try send(message.bytes)
    var reply: [UInt8] = []
    while true {
      var reader = WireReader(reply)
      if let length = reader.uint32() {
        guard (1...AgentReply.limit).contains(Int(length)) else { throw AgentProblem.noAgent }
        if let answer = reader.take(Int(length)) { return answer }
      }
      reply += try receive()
    }
  }

  private func ask(_ request: AgentRequest) throws(AgentProblem) -> AgentReply {
    try send(request.bytes)
    var reply: [UInt8] = []
    while true {
      switch AgentReply.parse(reply) {
      case .reply(let answer, _): return answer
      case .malformed: throw AgentProblem.noAgent
      case .needMore: reply += try receive()
      }
    }
  }

  private func send(_ message: [UInt8]) throws(AgentProblem) {
    var sent = 0
    while sent < message.count {
      let result = unsafe message.withUnsafeBytes { bytes in
        unsafe socket.send(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
      }
      guard case .bytes(let count) = result else { throw AgentProblem.silent }
      sent += count
    }
  }

  private func receive() throws(AgentProblem) -> [UInt8] {
    var result = Socket.Transfer.ended
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
      result = unsafe socket.receive(into: UnsafeMutableRawBufferPointer(buffer))
      if case .bytes(let received) = result { count = received }
    }
    guard case .bytes = result else { throw AgentProblem.silent }
    return bytes
  }

  private static func connect(_ descriptor: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8) + [0]
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return false }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.connect(descriptor, generic, size) == 0
      }
    }
  }
}

/// Why an agent is of no use, in words.
struct AgentProblem: Error, Sendable, Equatable {
  var reason: String
  /// The `errno` where the system gave no socket.
  var errno: Int32 = 0

  static let silent = AgentProblem(reason: "The ssh-agent stopped answering.")
  static let noAgent = AgentProblem(reason: "The program at SSH_AUTH_SOCK is not an ssh-agent.")
}
