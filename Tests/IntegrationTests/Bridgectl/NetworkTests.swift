import Foundation
import Testing

/// A laptop that comes to another network, in a network namespace of its own.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: geteuid() == 0 && FileManager.default.isExecutableFile(atPath: "/usr/bin/unshare")))
struct NetworkTests {
  /// A dial that nothing answers begins anew where the way out is another one; routes that come and
  /// go beside it, as those of containers and of other networks, change nothing.
  @Test func aNewWayOutIsTriedAtOnceAndOtherRoutesAreNone() async throws {
    let home = try Home()
    let script = """
      exec /usr/bin/unshare -n /bin/bash -c '
        ip link set lo up
        # What goes there has no answer.
        ip route add 10.78.0.0/16 dev lo
        "$0" "$@" 2>events &
        run=$!
        attempts() { grep -c "\\"event\\":\\"attempt\\"" events; }
        waitFor() { for i in {1..300}; do [ "$(attempts)" -ge "$1" ] && return; sleep 0.1; done; }
        waitFor 1
        ip link add here type veth peer name there
        ip link set here up
        ip link set there up
        for i in 1 2 3 4; do ip route add 10.80.$i.0/24 dev lo; sleep 0.7; done
        attempts
        ip addr add 10.79.0.1/24 dev here
        ip route add default dev here
        waitFor 2
        attempts
        kill $run
        wait $run' "$0" "$@"
      """
    let outcome = try await home.run(
      ["connect", "--json", "--wait=5m", "-o", "ConnectTimeout=200", "-N", "10.78.0.1"],
      through: "cd \(home.path); \(script)")
    #expect(outcome.text == "1\n2\n", "\(outcome.error)\n\(home.read("events"))")
    #expect(outcome.code == 143)
  }
}
