import CLibUV

extension Reactor {
  /// The version of libuv that is linked: `1.44.2`.
  public static var libraryVersion: String {
    guard let text = unsafe uv_version_string() else { return "unknown" }
    return unsafe String(cString: text)
  }
}
