import BridgeSSH
import Testing

struct PacketTapTests {
  private func see(_ tap: inout PacketTap, _ bytes: [UInt8]) { tap.see(bytes.span) }

  private func packet(_ build: (inout WireWriter) -> Void) -> [UInt8] {
    var writer = WireWriter()
    build(&writer)
    return writer.bytes
  }

  private var exitStatus: [UInt8] {
    packet {
      $0.byte(98)
      $0.uint32(7)
      $0.string("exit-status")
      $0.byte(0)
      $0.uint32(300)
    }
  }

  private var refusal: [UInt8] {
    packet {
      $0.byte(51)
      $0.string("publickey,password")
      $0.byte(1)
    }
  }

  @Test func readsWhatTheLibraryForgets() {
    var tap = PacketTap()
    see(&tap, [91, 0, 0, 1, 2, 0, 0, 0, 9])
    #expect(tap.openedChannel == 258)
    see(&tap, [92, 0, 0, 0, 1, 0, 0, 0, 4])
    #expect(tap.openRefusal == 4)
    see(&tap, exitStatus)
    #expect(tap.exitStatus == [7: 300])
    see(&tap, refusal)
    #expect(
      tap.refusal == .init(methods: ["publickey", "password"], isPartialSuccess: true))
  }

  @Test func aWishForAnotherPasswordIsSeenWhole() {
    let wish = packet {
      $0.byte(60)
      $0.string("expired")
      $0.string("en")
    }
    for count in 1..<wish.count {
      var tap = PacketTap()
      see(&tap, Array(wish.prefix(count)))
      #expect(!tap.isPasswordExpired)
    }
    var tap = PacketTap()
    see(&tap, wish)
    #expect(tap.isPasswordExpired)
    tap.forgetRefusal()
    #expect(!tap.isPasswordExpired)
  }

  @Test func forgetsWhenTold() {
    var tap = PacketTap()
    for bytes in [[91, 0, 0, 0, 1], [92, 0, 0, 0, 1, 0, 0, 0, 4], exitStatus, refusal] {
      see(&tap, bytes)
    }
    tap.forgetOpen()
    tap.forgetRefusal()
    tap.forgetChannel(7)
    #expect(tap.openedChannel == nil && tap.openRefusal == nil && tap.refusal == nil)
    #expect(tap.exitStatus.isEmpty)
  }

  /// An end that cannot be dealt with while keys are exchanged is new once more behind that.
  @Test func newKeysRecallTheEnds() {
    var tap = PacketTap()
    see(&tap, [21])
    #expect(!tap.hasNewEnd)
    see(&tap, [96, 0, 0, 0, 7])
    tap.forgetNewEnd()
    see(&tap, [21])
    #expect(tap.hasNewEnd)
    tap.forgetNewEnd()
    tap.forgetChannel(7)
    see(&tap, [21])
    #expect(!tap.hasNewEnd)
  }

  /// A block may be longer than its packet: the allocator rounds up.
  @Test func whatFollowsThePacketDoesNoHarm() {
    var tap = PacketTap()
    see(&tap, exitStatus + [UInt8](repeating: 0xee, count: 40))
    see(&tap, refusal + [UInt8](repeating: 0xee, count: 40))
    #expect(tap.exitStatus == [7: 300])
    #expect(tap.refusal?.methods == ["publickey", "password"])
  }

  /// Every block that libssh2 frees passes here, not only packets.
  @Test func nothingElseIsTakenForOne() {
    var tap = PacketTap()
    for whole in [exitStatus, refusal] {
      for count in 0..<whole.count { see(&tap, Array(whole.prefix(count))) }
    }
    for bytes: [UInt8] in [
      [], [98], [51], [91], [92, 0, 0, 0, 1], [51, 0xff, 0xff, 0xff, 0xff, 1],
      [98, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff], Array("bcde".utf8), Array("3abc".utf8),
      packet {
        $0.byte(98)
        $0.uint32(7)
        $0.string("exit-signal")
        $0.byte(0)
        $0.uint32(3)
      },
    ] {
      see(&tap, bytes)
    }
    #expect(tap.exitStatus.isEmpty && tap.refusal == nil && tap.openedChannel == nil)
    #expect(tap.openRefusal == nil)
  }

  @Test func survivesWhateverIsFreed() {
    var generator = SplitMix64(seed: 11)
    for whole in [exitStatus, refusal, [91, 0, 0, 0, 1], [92, 0, 0, 0, 1, 0, 0, 0, 4]] {
      var tap = PacketTap()
      for bytes in Mutation.of(whole, count: 500, seed: generator.next()) { see(&tap, bytes) }
      #expect(tap.exitStatus.count <= 4096)
    }
  }

  /// A peer that invents statuses cannot fill the memory.
  @Test func keepsABoundedNumberOfStatuses() {
    var tap = PacketTap()
    for number in 0..<5000 as Range<UInt32> {
      see(
        &tap,
        packet {
          $0.byte(98)
          $0.uint32(number)
          $0.string("exit-status")
          $0.byte(0)
          $0.uint32(1)
        })
    }
    #expect(tap.exitStatus.count == 4096)
  }

  @Test func anArrivalIsTakenOnce() {
    var tap = PacketTap()
    let open = packet {
      $0.byte(90)
      $0.string("forwarded-tcpip")
      $0.uint32(3)
      $0.uint32(2_097_152)
      $0.uint32(32_768)
      $0.string("localhost")
      $0.uint32(8080)
      $0.string("10.0.0.7")
      $0.uint32(50_000)
    }
    see(&tap, open)
    let arrival = PacketTap.Arrival(address: "localhost", port: 8080, originator: "10.0.0.7")
    #expect(tap.takeArrival() == arrival)
    #expect(tap.takeArrival() == nil)
    for count in 0..<open.count - 4 {
      see(&tap, Array(open[..<count]))
      #expect(tap.takeArrival() == nil, "\(count) bytes")
    }
    see(
      &tap,
      packet {
        $0.byte(90)
        $0.string("x11")
      })
    #expect(tap.takeArrival() == nil)
  }
}
