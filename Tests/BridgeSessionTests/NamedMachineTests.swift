import BridgeAgentHost
import BridgeErrors
import BridgeFaults
import BridgeRecovery
import BridgeSSH
import BridgeSession
import BridgeSessionProtocol
import BridgeSupervision
import BridgeTestKit
import BridgeTransport
import BridgeWaiting
import Foundation
import Testing

@Suite("A machine is named as in ssh_config", .timeLimit(.minutes(2)))
struct NamedMachineTests {
  @Test func anAliasIsReachedWithItsKeyAndItsKnownHosts() async throws {
    try await NamedHosts.with { hosts in
      let machine = try await hosts.machine("build")
      let session = hosts.start("echo here; exit 3", on: machine)
      _ = try await session.attach()
      #expect(try await session.exitStatus() == .exited(status: 3))
      #expect(machine.warnings.isEmpty && machine.notes.isEmpty)
      await session.close()
      await machine.close()
    }
  }

  @Test func aProgramLeadsToIt() async throws {
    try await NamedHosts.with { hosts in
      let command = "exec 3<>/dev/tcp/127.0.0.1/\(hosts.target.port); cat <&3 & exec cat >&3"
      // Where nothing listens.
      let elsewhere = "Host build\n  Port 1\n  StrictHostKeyChecking accept-new\n"
      try hosts.write(
        "\(elsewhere)  ProxyCommand /bin/bash -c \"\(command)\"\n" + hosts.config)
      try await hosts.machine("build", LinkOptions(retriesFirstDial: false)).connect()
    }
  }

  // MARK: Refusals

  @Test func aBrokenConfigurationIsRefusedWithFileAndLine() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("Host build\n  Port http\n")
      let error = await failure { try await hosts.machine("build") }
      #expect(error?.caseName == "validationError")
      #expect(error?.shownMessage().contains("/config:2)") == true, "\(String(describing: error))")
    }
  }

  @Test func aConfigurationThatIsNotThereIsRefused() async throws {
    try await NamedHosts.with { hosts in
      let error = await failure {
        try await RemoteMachine(
          named: "build", hosts.supervisor, lookup: MachineOptions(files: .file("/no/config")))
      }
      #expect(error == .fileNotFound(path: "/no/config"))
    }
  }

  /// As with ssh, it is taken for a name; that there is none may change.
  @Test func anUnknownAliasIsTheErrorOfItsFirstDial() async throws {
    try await NamedHosts.with { hosts in
      let name = String(repeating: "a", count: 64)
      let machine = try await hosts.machine(name, LinkOptions(retriesFirstDial: false))
      #expect(await failure { try await machine.connect() } == .dnsError(host: name))
    }
  }

  @Test func aRefusedKeyIsAnErrorOfTheFirstDial() async throws {
    try await NamedHosts.with { hosts in
      try await hosts.target.revokeIdentities()
      let machine = try await hosts.machine("build")
      let error = await failure { try await machine.connect() }
      #expect(error?.caseName == "sshAuthenticationFailed")
    }
  }

  @Test func anUnknownHostKeyIsRefusedWhereNoQuestionIsAnswered() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("", to: "known_build")
      let machine = try await hosts.machine("build")
      let error = await failure { try await machine.connect() }
      #expect(error?.caseName == "sshHostKeyUnknown")
      #expect(await !hosts.target.log.contains("Accepted"))
    }
  }

  @Test func theQuestionOfAHostKeyIsThatOfItsAccount() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("", to: "known_build")
      let askers = Mutex([Asker]())
      let machine = try await hosts.machine("build") { asker in
        SSHInteraction(trust: { _ in
          askers.withLock { $0.append(asker) }
          return true
        })
      }
      try await machine.connect()
      let target = Endpoint(host: "127.0.0.1", port: hosts.target.port)
      #expect(askers.withLock { $0 } == [Asker(user: hosts.target.user, endpoint: target)])
    }
  }

  @Test func inBatchModeNoQuestionIsAsked() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("", to: "known_build")
      try hosts.add("BatchMode yes\n")
      let machine = try await hosts.machine("build") { _ in SSHInteraction(trust: { _ in true }) }
      #expect(await failure { try await machine.connect() }?.caseName == "sshHostKeyUnknown")
    }
  }

  @Test func whatItsLinksDoNotDoIsSaid() async throws {
    try await NamedHosts.with { hosts in
      try hosts.write("LocalForward 8080 localhost:80\nCompression yes\n" + hosts.config)
      let machine = try await hosts.machine("build")
      let place = hosts.file("config")
      #expect(
        machine.warnings == ["\(place):1: LocalForward has no effect on the links of a program"])
      #expect(machine.notes == ["\(place):2: Compression has no effect here"])
    }
  }

  // MARK: Jump hosts

  /// The first of two hosts on the way is cut off under a session, which goes on. That is a failure
  /// of this host: what depends on it waits.
  @Test func aCutAtTheFirstHopEndsNoSession() async throws {
    try await NamedHosts.with(hops: 2) { hosts in
      let events = EventRecorder<RecoveryEvent>()
      let stream = hosts.supervisor.events()
      let recording = Task { for await event in stream { events.record(event) } }
      defer { recording.cancel() }
      let machine = try await hosts.machine("build")
      let session = hosts.start("while read line; do echo \"$line\"; done", on: machine)
      _ = try await session.attach()
      var lines: [String] = []
      let iterator = session.lines().makeAsyncIterator()
      for number in 1...3 {
        async let written = session.write(Array("line \(number)\n".utf8))
        try await hosts.proxy?.inject(.reset)
        _ = try await written
        if let line = try await iterator.next() { lines.append(line.text ?? "gap") }
      }
      #expect(lines == ["line 1", "line 2", "line 3"])
      let suspended = events.events.filter { $0.name == "suspended" }.map(\.source)
      #expect(suspended.contains("build#1"), "\(suspended)")
      await session.close()
      await machine.close()
    }
  }

  /// To replace it loses nothing: its sessions do not wait as long as a shell would.
  @Test func aLinkThatFallsSilentIsReplacedSoon() async throws {
    try await NamedHosts.with(hops: 1) { hosts in
      try hosts.add("Host *\n  ServerAliveInterval 1\n  ServerAliveCountMax 600\n")
      let machine = try await RemoteMachine(
        named: "build", hosts.supervisor,
        lookup: MachineOptions(files: .file(hosts.file("config"))))
      let session = hosts.start("read -r line; exit 5", on: machine)
      _ = try await session.attach()
      try await hosts.proxy?.inject(.freeze())
      try await session.deliver(Array("line\n".utf8))
      #expect(try await session.exitStatus() == .exited(status: 5))
      await session.close()
      await machine.close()
    }
  }

  /// One link to each host on the way, until the last machine behind it is closed.
  @Test func machinesBehindTheSameHopsShareTheirLinks() async throws {
    try await NamedHosts.with(hops: 2) { hosts in
      let first = try await hosts.machine("build")
      let second = try await hosts.machine("twin")
      async let early: Void = first.connect()
      try await first.connect()
      try await early
      try await second.connect()
      #expect(await hosts.logins == [1, 1, 2])
      await first.close()
      let session = hosts.start("exit 4", on: second)
      _ = try await session.attach()
      #expect(try await session.exitStatus() == .exited(status: 4))
      #expect(await hosts.logins == [1, 1, 2])
      await session.close()
      await second.close()
      for hop in hosts.hops { try await eventually { await hop.sessionProcesses == 0 } }
    }
  }

  @Test func aHopThatRefusesTheKeyIsTheErrorOfTheMachine() async throws {
    try await NamedHosts.with(hops: 1) { hosts in
      try await hosts.hops[0].revokeIdentities()
      let machine = try await hosts.machine("build")
      #expect(await failure { try await machine.connect() }?.caseName == "sshAuthenticationFailed")
      #expect(await hosts.logins == [0, 0])
    }
  }
}
