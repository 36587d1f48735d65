import Foundation
import Glibc

/// What is in the memory of this process, freed blocks included.
enum ProcessMemory {
  /// Whether somewhere stands what `needle` is with every bit turned: as it is it must not be found
  /// in the question itself.
  static func contains(complementOf needle: [UInt8]) -> Bool {
    let wanted = UnsafeMutableRawBufferPointer.allocate(byteCount: needle.count, alignment: 1)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
    defer {
      unsafe wanted.deallocate()
      unsafe chunk.deallocate()
    }
    for (index, byte) in needle.enumerated() { unsafe wanted[index] = ~byte }
    for range in writableRanges where unsafe isIn(range, wanted, by: chunk) { return true }
    return false
  }

  /// Whether all of it can be read in a test: a sanitizer maps terabytes for its own use.
  static var isSearchable: Bool {
    writableRanges.allSatisfy { $0.upperBound - $0.lowerBound < 1 << 40 }
  }

  /// From /proc (proc_pid_maps(5)).
  private static var writableRanges: [Range<UInt>] {
    let file = FileHandle(forReadingAtPath: "/proc/self/maps")
    let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
    return maps.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard fields[1].hasPrefix("rw"), ends.count == 2 else { return nil }
      return ends[0]..<ends[1]
    }
  }

  private static func isIn(
    _ range: Range<UInt>, _ wanted: UnsafeMutableRawBufferPointer,
    by chunk: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let descriptor = unsafe open("/proc/self/mem", O_RDONLY)
    defer { close(descriptor) }
    var address = range.lowerBound
    while address < range.upperBound {
      let wish = min(chunk.count, Int(range.upperBound - address))
      let count = unsafe pread(descriptor, chunk.baseAddress, wish, Int(address))
      guard count > wanted.count else { return false }
      var start = 0
      while let offset = unsafe offset(of: wanted, in: chunk, start..<count) {
        let place = address + UInt(offset)
        if unsafe !isOwn(place, wanted), unsafe !isOwn(place, chunk) { return true }
        start = offset + 1
      }
      if count < wish || address + UInt(count) >= range.upperBound { return false }
      // Chunks overlap, so that no needle lies across an edge.
      address += UInt(count - wanted.count)
    }
    return false
  }

  /// Where `wanted` first stands in that part of `chunk`.
  private static func offset(
    of wanted: UnsafeMutableRawBufferPointer, in chunk: UnsafeMutableRawBufferPointer,
    _ range: Range<Int>
  ) -> Int? {
    guard let needle = wanted.baseAddress, let base = chunk.baseAddress else {
      return nil
    }
    var start = range.lowerBound
    while start + wanted.count <= range.upperBound {
      let left = range.upperBound - start
      guard let hit = unsafe memchr(base + start, Int32(wanted[0]), left) else { return nil }
      let offset = unsafe base.distance(to: hit)
      guard offset + wanted.count <= range.upperBound else { return nil }
      if unsafe memcmp(hit, needle, wanted.count) == 0 { return offset }
      start = offset + 1
    }
    return nil
  }

  private static func isOwn(_ place: UInt, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    let start = UInt(bitPattern: buffer.baseAddress)
    return (start..<start + UInt(buffer.count)).contains(place)
  }
}
