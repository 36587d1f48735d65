import BridgeErrors
import BridgeStore
import Testing

@Suite("A value is kept as JSON") struct StoredValueTests {
  private struct Point: Codable, Equatable {
    var z: Int
    var a: [String: Double]
  }

  @Test func aValueComesBackAndEqualOnesHaveEqualBytes() throws {
    let point = Point(z: 1, a: ["y": 0.5, "x": -1])
    let value = try StoredValue(encoding: point)
    #expect(String(decoding: value.bytes, as: UTF8.self) == #"{"a":{"x":-1,"y":0.5},"z":1}"#)
    #expect(try value.decoded(as: Point.self) == point)
  }

  @Test(arguments: ["", "{", "[]", #"{"z":1}"#])
  func whatIsNoSuchValueIsAnErrorThatNamesTheType(text: String) {
    let value = StoredValue(bytes: Array(text.utf8))
    let error = #expect(throws: AppError.self) { try value.decoded(as: Point.self) }
    guard case .decodingError("Point", _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func aValueThatJSONHasNotIsAnError() {
    let error = #expect(throws: AppError.self) { try StoredValue(encoding: [Double.nan]) }
    #expect(error?.caseName == "encodingError")
  }
}
