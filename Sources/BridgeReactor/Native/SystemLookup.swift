import BridgeErrors
import CLibUV
import Foundation

extension Lookup {
  /// `getaddrinfo` in libuv's thread pool.
  static let system = Lookup { host, reactor, answer in
    SystemLookup(answer).start(host, on: reactor)
  }
}

/// One request to libuv's pool; it frees itself when it is answered.
private final class SystemLookup {
  private let answer: @Sendable (Lookup.Answer) -> Void

  init(_ answer: @escaping @Sendable (Lookup.Answer) -> Void) { self.answer = answer }

  func start(_ host: String, on reactor: Reactor) {
    reactor.preconditionIsolated()
    // A NUL would end the C string, and another host would be asked for.
    guard !host.utf8.contains(0) else { return answer(.failure(.lookup(UV_EAI_NONAME.rawValue))) }
    let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    unsafe request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let result = unsafe uv_getaddrinfo(
      reactor.native, request, { unsafe SystemLookup.answered($0, $1, $2) }, host, nil, &hints)
    if result != 0 { unsafe Self.answered(request, result, nil) }
  }

  private static func answered(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ status: Int32,
    _ list: UnsafeMutablePointer<addrinfo>?
  ) {
    defer { unsafe uv_freeaddrinfo(list) }
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    unsafe request.deallocate()
    let lookup = unsafe Unmanaged<SystemLookup>.fromOpaque(data).takeRetainedValue()
    guard status == 0 else { return lookup.answer(.failure(.lookup(status))) }
    var addresses: [NetworkAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe NetworkAddress(entry.pointee.ai_addr) { addresses.append(address) }
      unsafe next = entry.pointee.ai_next
    }
    lookup.answer(
      addresses.isEmpty ? .failure(.lookup(UV_EAI_NODATA.rawValue)) : .success(addresses))
  }
}

extension DialFailure {
  /// What libuv's `status` of a failed lookup means.
  ///
  /// Without a free descriptor the resolver cannot ask anybody, and says one thing or another: that
  /// shortage is looked for first.
  package static func lookup(
    _ status: Int32, shortage: () -> Int32? = { Socket.shortage() }
  ) -> DialFailure {
    func failure(_ cause: Cause) -> DialFailure {
      DialFailure(phase: .resolve, cause: cause, nativeCode: Int(status))
    }
    if ErrorNumber.isShortage(-status) { return failure(.failed(errno: -status)) }
    if status == UV_EAI_MEMORY.rawValue { return failure(.failed(errno: ENOMEM)) }
    if let errno = shortage() { return failure(.failed(errno: errno)) }
    let unknown = [
      UV_EAI_NONAME.rawValue, UV_EAI_NODATA.rawValue,
      // What libuv refuses before it asks: over 255 bytes, or no valid IDNA.
      UV_ENAMETOOLONG.rawValue, UV_EINVAL.rawValue,
    ]
    return failure(unknown.contains(status) ? .nameUnknown : .nameTimeout)
  }
}
