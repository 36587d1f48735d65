import BridgeFiles

extension FileEvent {
  /// The check with a key says nothing outside of its copy.
  var checkedWithKey: FileEvent {
    guard case .copied(let path, let bytes, _?, let hasChanged) = self else { return self }
    return .copied(path, bytes: bytes, digest: [], hasChanged: hasChanged)
  }

  /// Of a host that has no tool for one: what was read was hashed, what was written was not.
  var withoutDigest: FileEvent {
    guard case .copied(let path, let bytes, _, let hasChanged) = self else { return self }
    return .copied(path, bytes: bytes, digest: nil, hasChanged: hasChanged)
  }
}
