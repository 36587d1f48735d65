import BridgeSessionProtocol
import Testing

/// Clients of a host's machine, for the suites that play them.
protocol HostTests {}

extension HostTests {
  typealias Effect = HostSession.Effect

  func hello(
    _ client: ClientID = Sample.client, received: UInt64? = nil, takes: Bool = false,
    role: Role = .writer, window: UInt64? = nil
  ) -> Frame {
    var hello = Hello(session: Sample.session, client: client)
    hello.resume = received.map { ResumePoint(epoch: Sample.epoch, received: $0) }
    hello.acknowledged = received ?? 0
    hello.takes = takes
    hello.role = role
    hello.window = window
    return .hello(hello)
  }

  func attach(
    _ host: inout HostSession, _ id: UInt32, _ frame: Frame
  ) throws -> (effects: [Effect], welcome: Welcome) {
    var effects = host.connect(id) + host.receive(frame, from: id, at: 0)
    if effects == [.send(id, .ping(UInt64(id)))] {
      effects = host.receive(.pong(UInt64(id)), from: id, at: 0)
    }
    // The writer in whose place it wants to write lives.
    if case .send(let writer, .ping(UInt64(id)))? = effects.first, writer != id {
      effects = host.receive(.pong(UInt64(id)), from: writer, at: 0) + host.answer(id, at: 0)
    }
    let answers = effects.compactMap { effect -> Welcome? in
      guard case .send(id, .welcome(let welcome)) = effect else { return nil }
      return welcome
    }
    return (effects, try #require(answers.first, "\(effects)"))
  }

  func codes(_ effects: [Effect]) -> [Refusal.Code] {
    effects.compactMap { effect in
      guard case .send(_, .refused(let refusal)) = effect else { return nil }
      return refusal.code
    }
  }

  func violation(_ effects: [Effect]) -> ProtocolError? {
    guard case .end(_, .violated(let error))? = effects.last else { return nil }
    return error
  }
}
