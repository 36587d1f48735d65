extension Rule {
  static let nativeCodes = [
    Rule(
      "a code of libssh2 has its name (SSHFailure.Code)",
      breaks: [
        ssh("return .failed(-43, text)"), ssh("if code == -37 {}"),
        ssh("switch code {\ncase -9: 1\n}"), ssh("let codes = [-4, -7]"),
        ssh("let code = isEmpty ? -14 : code"),
      ],
      keeps: [
        ssh("return .failed(.socketReceive, text)"), ssh("let rest = count -14"),
        ssh("guard read != -1 else { return }"), ssh("let x = a[1]-16"),
        library("static let socketReceive: Self = -43"),
      ]
    ) { file in
      guard file.area == "Sources", ["BridgeSSH", "BridgeWebSocket"].contains(file.target) else {
        return []
      }
      return file.negativeLiterals.filter { $0.value < -1 }.map(\.line)
    },
    Rule(
      "a close code of a WebSocket has its name (CloseCode)",
      breaks: [webSocket("await close(code: 1000)"), webSocket("case 1009: true")],
      keeps: [
        webSocket("await close(code: CloseCode.normal)"), webSocket("let limit = 1_000"),
        library("case 1009: true"),
        SourceFile("Sources/BridgeWebSocket/Protocol/CloseFrame.swift", "let normal = 1000"),
      ]
    ) { file in
      guard file.area == "Sources", file.target == "BridgeWebSocket",
        file.name != "CloseFrame.swift"
      else { return [] }
      return file.tokens.filter { Int($0.text).map((1000...1015).contains) == true }.map(\.line)
    },
  ]

  private static func ssh(_ text: String) -> SourceFile {
    SourceFile("Sources/BridgeSSH/Native/Fixture.swift", text)
  }

  private static func webSocket(_ text: String) -> SourceFile {
    SourceFile("Sources/BridgeWebSocket/Native/Fixture.swift", text)
  }
}

extension SourceFile {
  /// Whole numbers with a minus sign of their own, which no operand stands before.
  fileprivate var negativeLiterals: [(value: Int, line: Int)] {
    tokens.indices.compactMap { index in
      guard token(at: index) == "-", tokens.indices.contains(index + 1),
        tokens[index + 1].isGlued, let value = Int(token(at: index + 1))
      else { return nil }
      let before = token(at: index - 1)
      let isOperand =
        (before.first?.isLetter == true || before.first?.isNumber == true
          || [")", "]", "}"].contains(before)) && !["case", "return", "in"].contains(before)
      return isOperand ? nil : (-value, tokens[index].line)
    }
  }
}
