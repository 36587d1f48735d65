import BridgeFaults

/// Bytes that follow from their offset: one that is lost, doubled or moved is seen where it is.
struct SeededBytes: Sendable {
  var seed: UInt64
  /// What a terminal draws with, and nothing that asks it: the keeper would answer.
  var isText = false

  func bytes(_ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var offset = range.lowerBound
    while offset < range.upperBound {
      // Eight bytes a number.
      var generator = SplitMix64(seed: seed &+ UInt64(offset / 8) &* 0xD1B5_4A32_D192_ED03)
      let number = generator.next()
      let start = isText ? Self.sequence(generator.next()) : []
      repeat {
        let byte = UInt8(truncatingIfNeeded: number >> UInt64(offset % 8 * 8))
        let column = offset % 8
        let other = isText ? 0x20 + byte % 95 : byte
        result.append(column < start.count ? start[column] : other)
        offset += 1
      } while offset % 8 != 0 && offset < range.upperBound
    }
    return result
  }

  /// What eight bytes of a terminal's output begin with: mostly nothing, or what moves the cursor
  /// or changes what is drawn.
  private static func sequence(_ number: UInt64) -> [UInt8] {
    let (row, column) = ((number >> 8) % 24 + 1, (number >> 16) % 80 + 1)
    let text: String? =
      switch number % 64 {
      case 0..<8: "\r\n"
      case 8..<12: "\u{1B}[\(row);\(column)H"
      case 12..<18: "\u{1B}[3\((number >> 24) % 8)m"
      case 18: "\u{1B}[K"
      case 19: "\u{1B}[2L"
      case 20: "\u{1B}M"
      case 21: "\u{1B}[5;20r"
      case 22: "\u{1B}[r"
      case 23: "\u{1B}7"
      case 24: "\u{1B}8"
      case 25: "\u{1B}[?1049h"
      case 26: "\u{1B}[?1049l"
      case 27..<30: "日本"
      case 30: (number >> 32) % 8 == 0 ? "\u{1B}[2J" : nil
      case _: nil
      }
    return Array((text ?? "").utf8)
  }
}

/// SHA-256 (FIPS 180-4) as a value: what a killed client had not stored is taken back by a copy.
struct SHA256: Sendable {
  private var state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]

  mutating func update(_ bytes: some Sequence<UInt8>) {
    rest += bytes
    var start = 0
    while rest.count - start >= 64 {
      compress(rest[start..<(start + 64)])
      start += 64
    }
    count += UInt64(start)
    rest.removeFirst(start)
  }

  /// In hexadecimal digits.
  var digest: String {
    var copy = self
    let bits = (count + UInt64(rest.count)) * 8
    let zeros = (119 - rest.count) % 64
    copy.update([0x80] + [UInt8](repeating: 0, count: zeros))
    copy.update((0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) })
    return copy.state.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }.joined()
  }

  private mutating func compress(_ block: ArraySlice<UInt8>) {
    var words = [UInt32](repeating: 0, count: 64)
    for (index, byte) in block.enumerated() {
      words[index / 4] |= UInt32(byte) << UInt32(24 - index % 4 * 8)
    }
    for index in 16..<64 {
      let (old, new) = (words[index - 15], words[index - 2])
      let small = Self.turned(old, 7) ^ Self.turned(old, 18) ^ old >> 3
      let large = Self.turned(new, 17) ^ Self.turned(new, 19) ^ new >> 10
      words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
    }
    var value = state
    for index in 0..<64 {
      let (a, e) = (value[0], value[4])
      let high = Self.turned(e, 6) ^ Self.turned(e, 11) ^ Self.turned(e, 25)
      let choice = e & value[5] ^ ~e & value[6]
      let first = value[7] &+ high &+ choice &+ Self.constants[index] &+ words[index]
      let low = Self.turned(a, 2) ^ Self.turned(a, 13) ^ Self.turned(a, 22)
      let majority = a & value[1] ^ a & value[2] ^ value[1] & value[2]
      value = [
        first &+ low &+ majority, a, value[1], value[2], value[3] &+ first, e, value[5], value[6],
      ]
    }
    for index in 0..<8 { state[index] &+= value[index] }
  }

  private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }
}
