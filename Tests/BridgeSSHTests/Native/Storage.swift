/// Where the elements of `bytes` are. A change moves them when they have another owner too.
func storage(of bytes: [UInt8]) -> UInt {
  unsafe bytes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
}
