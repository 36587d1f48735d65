import BridgeSessionProtocol
import Testing

/// Which bytes of a file each of several streams carries, and how a request says so.
@Suite struct FileStripeTests {
  private static let unit = FileStripe.unit

  @Test(arguments: [
    0, 1, unit - 1, unit, unit + 1, 2 * unit, 3 * unit - 7, 8 * unit, 8 * unit + 1, 100 * unit + 9,
  ])
  func everyByteBelongsToOneStream(size: UInt64) {
    for count in FileStripe.counts {
      var runs: [Range<UInt64>] = []
      for stripe in FileStripe.all(of: count) {
        let length = stripe.length(of: size)
        var offset: UInt64 = 0
        while offset < length {
          let run = min(stripe.run(at: offset), length - offset)
          let start = stripe.position(of: offset)
          runs.append(start..<(start + run))
          offset += run
        }
      }
      runs.sort { $0.lowerBound < $1.lowerBound }
      var end: UInt64 = 0
      for run in runs {
        #expect(run.lowerBound == end)
        end = run.upperBound
      }
      #expect(end == size)
    }
  }

  @Test func bytesInsideAUnitLieSideBySide() throws {
    let stripe = try #require(FileStripe(1, of: 3))
    #expect(stripe.position(of: 5) == Self.unit + 5)
    #expect(stripe.position(of: Self.unit) == 4 * Self.unit)
    #expect(stripe.run(at: 5) == Self.unit - 5)
    #expect(stripe.run(at: Self.unit) == Self.unit)
  }

  /// An offset that no file has leads to no other place of one.
  @Test(arguments: [1 << 60, 1 << 62, UInt64.max])
  func anOffsetBeyondAnyFileIsTheLastOne(offset: UInt64) throws {
    let stripe = try #require(FileStripe(7, of: 8))
    #expect(stripe.position(of: offset) == Limits.offset - 1)
  }

  @Test(arguments: [(-1, 2), (2, 2), (0, 1), (0, 9), (8, 8)])
  func thereIsNoOtherStream(index: Int, count: Int) {
    #expect(FileStripe(index, of: count) == nil)
  }

  private static func request(_ role: FileRequest.Role) -> FileRequest {
    var request = FileRequest(role, path: [47, 97], transfer: Identifier(high: 1, low: 2))
    request.stripe = FileStripe(1, of: 4)
    request.run = Identifier(high: 3, low: 4)
    request.point = FilePoint(boot: [1, 2, 3])
    return request
  }

  private static var join: FileRequest {
    var request = request(.join)
    request.join = FileRequest.Join(
      size: 1 << 40, meta: FileMeta(mode: 0o640, seconds: 9, nanoseconds: 1), isRepeated: true)
    return request
  }

  private static func reread(_ request: FileRequest) throws -> FileFrame? {
    var parser = FileFrameParser()
    parser.append(FileFrame.open(request).encoded)
    return try parser.next()
  }

  @Test(arguments: [request(.put), request(.get), join])
  func aRequestIsReadAsItWasWritten(request: FileRequest) throws {
    #expect(try Self.reread(request) == .open(request))
  }

  /// A host that knows no streams would copy the whole file as often as there are any.
  @Test func onlyAStreamNeedsTheSecondVersion() {
    let plain = FileRequest(.put, path: [97], transfer: Identifier(high: 1, low: 2))
    func version(_ request: FileRequest) -> UInt8? {
      let bytes = FileFrame.open(request).encoded
      return bytes.firstRange(of: Array("version".utf8)).map { bytes[$0.upperBound + 11] }
    }
    #expect(version(plain) == 1)
    #expect(version(Self.request(.put)) == 2 && version(Self.join) == 2)
  }

  @Test func whatDoesNotFitTogetherIsRefused() {
    var tree = Self.request(.put)
    tree.isRecursive = true
    var withoutRun = Self.request(.put)
    withoutRun.run = nil
    var withoutFile = Self.join
    withoutFile.join = nil
    var withoutStripe = Self.join
    withoutStripe.stripe = nil
    var putThatJoins = Self.join
    putThatJoins.role = .put
    for request in [tree, withoutRun, withoutFile, withoutStripe, putThatJoins] {
      #expect(throws: ProtocolError.malformedFields("stripe")) { try Self.reread(request) }
    }
  }
}
