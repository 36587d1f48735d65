import BridgeWaiting
import CLibWebSockets

/// The C library for WebSockets, as it is linked into this process.
public enum WebSocketLibraries {
  /// The version of libwebsockets: `4.1.6`.
  public static var libwebsockets: String {
    guard let text = unsafe lws_get_library_version() else { return "unknown" }
    // "4.1.6-…": what follows names a build.
    return String(unsafe String(cString: text).prefix { $0 != "-" })
  }

  /// How often this process has read the machine's certificate authorities: at most once.
  package static var readingsOfAuthorities: Int { TrustStore.readings.withLock { $0 } }
}
