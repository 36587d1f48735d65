extension Rule {
  static let concurrency = [
    Rule(
      "Sources start no task outside a reactor: `Task {`, `Task.detached`, `Task.immediate`",
      breaks: [
        library("Task { a() }"), library("Task.detached { a() }"),
        library("Task.immediate { a() }"), library("let a = Task<Void, Never> { b() }"),
        library("Task(priority: .high) { a() }"),
        library("Task.immediate(priority: .high) { a() }"),
      ],
      keeps: [
        library("Task(executorPreference: reactor) { a() }"), test("Task { a() }"),
        library("Task.immediate(executorPreference: reactor) { a() }"),
        library("var a: Task<Void, Never> { b }"), library("func a() -> Task<Void, Never> { b }"),
      ]
    ) { file in
      guard file.area == "Sources" else { return [] }
      return file.lines(of: ["Task", "{"]) + file.lines(of: ["Task", ".", "detached"])
        + file.lines(ofTaskWithoutPreference: ())
    },
    // Registered, canceled and answered exactly once: written and tested once.
    Rule(
      "only BridgeWaiting resumes a continuation: all else has a Promise or a WaitList",
      breaks: [
        library("await withCheckedContinuation { a = $0 }"),
        library("var a: CheckedContinuation<Void, Never>?"),
        library("await withUnsafeThrowingContinuation { a = $0 }"),
      ],
      keeps: [
        SourceFile(
          "Sources/BridgeWaiting/A.swift", "await withCheckedContinuation { a }"),
        library("let a = Promise<Void>()"), test("await withCheckedContinuation { a = $0 }"),
        library("let a = AsyncStream<Int>.Continuation.self"),
      ]
    ) { file in
      guard file.area == "Sources", !file.path.hasPrefix("Sources/BridgeWaiting/") else {
        return []
      }
      return file.tokens.filter { token in
        ["CheckedContinuation", "UnsafeContinuation"].contains(token.text)
          || token.text.hasPrefix("with") && token.text.hasSuffix("Continuation")
      }.map(\.line)
    },
    // It calls its closure twice for each element, and ends the process where the second result is
    // nil (FlatMap.swift of the standard library): a file may be gone by then.
    Rule(
      "nothing is a lazy compactMap",
      breaks: [library("roots.lazy.compactMap { open($0) }.first")],
      keeps: [library("roots.compactMap { open($0) }.first")]
    ) { file in file.lines(of: ["lazy", ".", "compactMap"]) },
    Rule(
      "no code sleeps on the real clock, but for benchmarks, which measure it",
      breaks: [
        library("try await Task.sleep(for: .seconds(1))"), test("try await Task.sleep(for: a)"),
        test("usleep(10)"), test("Thread.sleep(forTimeInterval: 1)"),
      ],
      keeps: [
        library("try await clock.sleep(for: .seconds(1))"),
        SourceFile("Benchmarks/Sources/bench/A.swift", "try await Task.sleep(for: a)"),
      ]
    ) { file in
      guard file.area != "Benchmarks" else { return [] }
      return file.lines(of: ["Task", ".", "sleep"]) + file.lines(of: ["Thread", ".", "sleep"])
        + ["sleep", "usleep", "nanosleep"].flatMap { word in
          file.lines(of: [word, "("]) { !["func", "."].contains(file.token(at: $0 - 1)) }
        }
    },
    Rule(
      "randomness is a parameter",
      breaks: [
        library("let a = Int.random(in: 0..<3)"), test("let a = b.shuffled()"),
        test("var a = SystemRandomNumberGenerator()"), library("let a = b.randomElement()"),
      ],
      keeps: [
        library("let a = Int.random(in: 0..<3, using: &generator)"),
        test("let a = b.shuffled(using: &generator)"),
        // An id must differ from all others; no decision depends on it.
        library("let a = SessionID.random()"),
      ]
    ) { file in
      let draws = ["random", "shuffled", "shuffle", "randomElement"].flatMap { word in
        file.lines(of: [".", word, "("]) { index in
          !["Identifier", "SessionID", "ClientID"].contains(file.token(at: index - 1))
            && !file.contents(ofBracketAt: index + 2).contains { $0.text == "using" }
        }
      }
      let isDefault =
        file.area == "Sources"
        && (file.target == "BridgeCommands" || file.name == "Identifier.swift")
      return draws + (isDefault ? [] : file.lines(of: ["SystemRandomNumberGenerator", "("]))
    },
    Rule(
      "only BridgeCommands has a main actor",
      breaks: [library("@MainActor final class A {}"), native("MainActor.run {}")],
      keeps: [commands("@MainActor final class A {}"), test("@MainActor func a() {}")]
    ) { file in
      guard file.area == "Sources", file.target != "BridgeCommands" else { return [] }
      return file.lines(of: ["MainActor"])
    },
    Rule(
      "every stream has a bound",
      breaks: [
        library("let (a, b) = AsyncStream.makeStream(of: Int.self)"),
        library("let a = AsyncStream<Int> { b in }"), library("let a = AsyncStream(Int.self) {}"),
        library("AsyncStream.makeStream(of: Int.self, bufferingPolicy: .unbounded)"),
      ],
      keeps: [
        library("AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingOldest(8))"),
        library("let a = AsyncStream<Int>(bufferingPolicy: .bufferingNewest(1)) { b in }"),
        library("let a: AsyncStream<Int>.Continuation"), library("AsyncStream(unfolding: next)"),
        library("var events: AsyncStream<Int> { get }"), test("AsyncStream { a in }"),
      ]
    ) { file in
      guard file.area == "Sources" else { return [] }
      return file.lines(ofUnboundedStream: ()) + file.lines(of: [".", "unbounded"])
    },
  ]
}

extension SourceFile {
  /// The index after a generic argument list that begins at `index`, or `index` where none does.
  private func skipGenerics(at index: Int) -> Int {
    guard token(at: index) == "<" else { return index }
    var (position, depth) = (index, 0)
    repeat {
      if token(at: position) == "<" { depth += 1 }
      if token(at: position) == ">" { depth -= 1 }
      position += 1
    } while depth > 0 && position < tokens.count
    return position
  }

  /// Where `name`, with or without generic arguments, is called and not merely a type's name:
  /// the index of the bracket that opens the call.
  private func calls(of name: String) -> [Int] {
    tokens.indices.compactMap { index in
      guard tokens[index].text == name else { return nil }
      let opening = skipGenerics(at: index + 1)
      if token(at: opening) == "(" { return opening }
      let isType = [":", ">", "some", "any"].contains(token(at: index - 1))
      return token(at: opening) == "{" && !isType ? opening : nil
    }
  }

  fileprivate func lines(ofTaskWithoutPreference: Void) -> [Int] {
    (calls(of: "Task") + calls(of: "immediate")).filter { opening in
      let isPlain = token(at: opening) == "{" && token(at: opening - 1) == "Task"
      return !isPlain
        && !(token(at: opening) == "(" && token(at: opening + 1) == "executorPreference")
    }.map { tokens[$0].line }
  }

  fileprivate func lines(ofUnboundedStream: Void) -> [Int] {
    let streams = calls(of: "AsyncStream") + calls(of: "AsyncThrowingStream")
    return (streams + calls(of: "makeStream")).filter { opening in
      guard token(at: opening) == "(" else { return true }
      let labels = contents(ofBracketAt: opening).map(\.text)
      return !labels.contains("bufferingPolicy") && labels.first != "unfolding"
    }.map { tokens[$0].line }
  }
}
