import Foundation
import Glibc

/// A real HTTP server on a loopback port of its own, as small as a test needs it: one thread, one
/// request per connection, answers made by a closure. It is gone when its last owner is.
final class LoopbackServer: @unchecked Sendable {
  struct Request: Sendable {
    var line: String
    var headers: [String: String]
    var body: Data
  }

  /// What is sent back, byte for byte; nil leaves the connection open and says nothing.
  typealias Answer = @Sendable (Request) -> Data?

  let port: Int
  private let listener: Int32

  init(answer: @escaping Answer) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        guard unsafe bind(descriptor, raw, length) == 0, listen(descriptor, 16) == 0 else {
          return false
        }
        return unsafe getsockname(descriptor, raw, &length) == 0
      }
    }
    guard result else { throw POSIXError(.EADDRNOTAVAIL) }
    port = Int(in_port_t(bigEndian: address.sin_port))
    Thread.detachNewThread { Self.serve(descriptor, answer) }
  }

  /// Ends the thread: its `accept` fails.
  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func serve(_ listener: Int32, _ answer: Answer) {
    var silent: [Int32] = []
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else { break }
      guard let request = read(client), let bytes = answer(request) else {
        silent.append(client)
        continue
      }
      send(bytes, to: client)
      // A program that another test started meanwhile may have inherited it: closing is no end.
      shutdown(client, Int32(SHUT_RDWR))
      close(client)
    }
    for client in silent { close(client) }
    close(listener)
  }

  private static func read(_ client: Int32) -> Request? {
    var bytes = Data()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let request = request(in: bytes) { return request }
      let count = unsafe recv(client, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes.append(contentsOf: buffer[..<count])
    }
  }

  private static func request(in bytes: Data) -> Request? {
    guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let body = Data(bytes[end.upperBound...])
    guard body.count >= Int(headers["content-length"] ?? "0") ?? 0 else { return nil }
    return Request(line: lines[0], headers: headers, body: body)
  }

  private static func send(_ bytes: Data, to client: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

extension LoopbackServer {
  var url: URL? { URL(string: "http://127.0.0.1:\(port)/base/") }

  /// An answer with these header lines.
  static func http(
    _ status: Int, _ body: String = "", headers: [String] = []
  ) -> Data {
    let lines =
      ["HTTP/1.1 \(status) Said", "Content-Length: \(body.utf8.count)", "Connection: close"]
      + headers
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}
