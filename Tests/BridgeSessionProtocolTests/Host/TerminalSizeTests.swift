import Testing

@testable import BridgeSessionProtocol

/// Who looks at a terminal learns of its size in its place in the output.
@Suite struct TerminalSizeTests: HostTests {
  private static let phone = WindowSize(columns: 45, rows: 20)
  private static let large = WindowSize(columns: 160, rows: 40)

  /// A session of a terminal with a writer, and a viewer that has all output so far.
  private func host(
    followsSize: Bool = true, kind: ProgramKind = .terminal
  ) throws -> (host: HostSession, welcome: Welcome) {
    var host = HostSession(.init(session: Sample.session, epoch: Sample.epoch, kind: kind))
    var writer = Hello(session: Sample.session, client: Sample.client)
    writer.size = Self.large
    _ = try attach(&host, 1, .hello(writer))
    var viewer = Hello(session: Sample.session, client: Sample.other)
    viewer.role = .viewer
    viewer.size = Self.phone
    viewer.followsSize = followsSize
    let (_, welcome) = try attach(&host, 2, .hello(viewer))
    return (host, welcome)
  }

  private func resize(_ host: inout HostSession, _ number: UInt64, to size: WindowSize) {
    let effects = host.receive(.control(number: number, .resize(size)), from: 1, at: 0)
    #expect(effects == [.resize(size)])
  }

  @Test func theWelcomeHasTheSizeOfTheProgram() throws {
    #expect(try host().welcome.size == Self.large)
  }

  @Test func aNewSizeComesBetweenTheOutputBeforeAndBehindIt() throws {
    var (host, _) = try host()
    host.produced(10, at: 0)
    resize(&host, 1, to: Self.phone)
    host.produced(5, at: 0)
    #expect(host.nextOutput(for: 2, limit: 100) == .bytes(from: 0, count: 10))
    #expect(host.nextOutput(for: 2, limit: 100) == .size(Self.phone))
    #expect(host.nextOutput(for: 2, limit: 100) == .bytes(from: 10, count: 5))
    #expect(host.nextOutput(for: 2, limit: 100) == .nothing)
    #expect(host.nextOutput(for: 1, limit: 100) == .bytes(from: 0, count: 15), "it is the writer's")
  }

  @Test func aSizeWithoutOutputBehindItIsSentAtOnce() throws {
    var (host, _) = try host()
    #expect(!host.hasOutput(for: 2))
    resize(&host, 1, to: Self.phone)
    #expect(host.hasOutput(for: 2))
    #expect(host.nextOutput(for: 2, limit: 100) == .size(Self.phone))
    #expect(!host.hasOutput(for: 2))
  }

  @Test func theLastSizeOfAPlaceCounts() throws {
    var (host, _) = try host()
    resize(&host, 1, to: Self.phone)
    resize(&host, 2, to: Self.large)
    #expect(host.nextOutput(for: 2, limit: 100) == .size(Self.large))
    #expect(host.nextOutput(for: 2, limit: 100) == .nothing)
  }

  @Test func theSameSizeIsNoNews() throws {
    var (host, _) = try host()
    resize(&host, 1, to: Self.large)
    #expect(!host.hasOutput(for: 2))
  }

  @Test func theSizeComesBeforeTheScreenThatStandsForOutput() throws {
    var (host, _) = try host()
    host.produced(10, at: 0)
    resize(&host, 1, to: Self.phone)
    host.produced(10, at: 0)
    resize(&host, 2, to: Self.large)
    resize(&host, 3, to: Self.phone)
    #expect(host.size(before: 20, for: 2) == Self.phone)
    #expect(host.size(before: 20, for: 2) == nil)
    #expect(host.nextOutput(for: 2, limit: 100) == .bytes(from: 0, count: 20))
  }

  /// A window that is dragged for an hour before a viewer that takes nothing.
  @Test func thereIsAnEndOfSizes() throws {
    var (host, _) = try host()
    for number in UInt64(1)...1000 {
      host.produced(1, at: 0)
      resize(&host, number, to: WindowSize(columns: 80, rows: UInt16(number)))
    }
    var sizes: [WindowSize] = []
    var bytes = 0
    loop: while true {
      switch host.nextOutput(for: 2, limit: 100) {
      case .size(let size): sizes.append(size)
      case .bytes(_, let count): bytes += count
      case .gap, .ended, .nothing: break loop
      }
    }
    #expect(sizes.count == 64 && sizes.last?.rows == 1000)
    #expect(bytes == 1000)
  }

  @Test(arguments: [(false, ProgramKind.terminal), (true, .pipes)])
  func whoDidNotAskAndWhoHasNoTerminalIsSentNone(followsSize: Bool, kind: ProgramKind) throws {
    var (host, welcome) = try host(followsSize: followsSize, kind: kind)
    resize(&host, 1, to: Self.phone)
    #expect(!host.hasOutput(for: 2))
    if !followsSize { #expect(welcome.size == nil) }
  }

  @Test func aClientThatDidNotAskTakesNone() throws {
    for follows in [true, false] {
      var (client, hello) = try Sample.attached { $0.followsSize = follows }
      #expect(hello.followsSize == follows)
      _ = try client.receive(.output(offset: 0, stream: .terminal, bytes: [1]), at: 0)
      if follows {
        #expect(try client.receive(.size(Self.phone), at: 0) == [.size(Self.phone, at: 1)])
      } else {
        #expect(throws: ProtocolError.unexpectedFrame(type: 131)) {
          try client.receive(.size(Self.phone), at: 0)
        }
      }
    }
  }
}
