import BridgeErrors
import BridgeRecovery
import BridgeSSH
import BridgeSupervision
import BridgeTransport

extension Link where Transport == SSHConnection {
  /// Ports that lead through the host of this link, or from it, for as long as the link lives.
  ///
  /// Local ports stay open while the link is down, and what connects then waits for it; ports of
  /// the host are asked for again whenever it is back. The connections of a forwarder are its own,
  /// to the endpoint and with the configuration of the connection in use when it was made. It ends
  /// with the link: by `Forwarder.close`, too.
  ///
  /// - Throws: what a first connection gave up with; what `Forwarder.listen` throws, and then
  ///   nothing is forwarded.
  public func forward(
    _ rules: ForwardRule..., limits: Forwarder.Limits = .init()
  ) async throws(AppError) -> Forwarder {
    let first = try await connection
    let forwarder = Forwarder(
      through: first.endpoint, configuration: first.configuration, limits: limits,
      link: { () async throws(AppError) in _ = try await connection })
    do throws(AppError) {
      for rule in rules { _ = try await forwarder.listen(rule) }
    } catch {
      await forwarder.close()
      throw error
    }
    return forwarder
  }

  /// Tells `forwarder` what happens to this link until it is closed: without it, the sessions of a
  /// link that was cut are found dead by their own probes only.
  public func keep(_ forwarder: Forwarder) async {
    for await event in events() {
      switch event.step {
      case .failed: if event.step.isCut { await forwarder.linkLost() }
      case .recovered: await forwarder.linkIsBack()
      case .suspended, .switched, .attempted, .entered, .becameHealthy, .classified, .waiting,
        .resumed, .suspected,
        .cleared, .gaveUp, .surfaced, .withdrawn, .lingered, .changed, .closed, .missed:
        break
      }
    }
    await forwarder.close()
  }
}
