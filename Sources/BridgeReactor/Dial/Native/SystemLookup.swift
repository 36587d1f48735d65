import BridgeErrors
import CLibUV
import Glibc

extension Lookup {
  /// `getaddrinfo` on a thread of `BlockingThreads`: libuv would run it in a pool of its own whose
  /// size is an environment variable, and would not say when it begins.
  static let system = Lookup(queued: { host, _, began, answer in
    guard let name = HostName.ascii(host) else {
      began()
      return answer(.failure(.lookup(UV_EAI_NONAME.rawValue)))
    }
    BlockingThreads.names.start {
      began()
      answer(SystemLookup.addresses(of: name))
    }
  })
}

/// One call of `getaddrinfo`.
private enum SystemLookup {
  /// The addresses of `name`, which holds no NUL byte. Blocks.
  static func addresses(of name: String) -> Lookup.Answer {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = unsafe getaddrinfo(name, nil, &hints, &list)
    guard status == 0 else { return .failure(.lookup(translated(status, errno))) }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [NetworkAddress] = []
    var next = unsafe list
    while let entry = unsafe next {
      if let address = unsafe NetworkAddress(entry.pointee.ai_addr) { addresses.append(address) }
      unsafe next = entry.pointee.ai_next
    }
    return addresses.isEmpty ? .failure(.lookup(UV_EAI_NODATA.rawValue)) : .success(addresses)
  }

  /// The number that libuv has for `status` of netdb.h: a failure shows the same on every system.
  private static func translated(_ status: Int32, _ errno: Int32) -> Int32 {
    switch status {
    case -1: UV_EAI_BADFLAGS.rawValue
    case -2: UV_EAI_NONAME.rawValue
    case -3: UV_EAI_AGAIN.rawValue
    case -4: UV_EAI_FAIL.rawValue
    case -5: UV_EAI_NODATA.rawValue
    case -6: UV_EAI_FAMILY.rawValue
    case -10: UV_EAI_MEMORY.rawValue
    case -11: -errno
    case _: UV_EAI_FAIL.rawValue
    }
  }
}

extension DialFailure {
  /// The failure that libuv's `status` of a lookup means.
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
      // Refused before any lookup: too long, or not encoded as a name.
      UV_ENAMETOOLONG.rawValue, UV_EINVAL.rawValue,
    ]
    return failure(unknown.contains(status) ? .nameUnknown : .nameTimeout)
  }
}
