#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// Failures before the peer has answered, and of this machine.
extension FailureRow {
  static let nameUnknown = Self(
    "nameUnknown", "The name of the host does not exist.", first: .never, exit: .nameUnknown,
    cost: .neverSent,
    remedy: """
      No name server knows it: check the spelling, and the HostName in your configuration. Where \
      it was known before, a network or VPN that knows it is gone.
      """)

  static let nameTimeout = Self(
    "nameTimeout", "The name servers did not answer in time.", exit: .nameUnknown,
    cost: .neverSent,
    remedy:
      "The name servers did not answer in time: check this machine's network and its DNS.")

  static let offline = Self(
    "offline", "This machine has no network.", retry: .awaitNetwork, exit: .unreachable,
    cost: .neverSent)

  static let refused = Self(
    "refused", "The host refused the port.", retry: .reconnectSoon, exit: .unreachable,
    cost: .neverSent,
    remedy:
      "The host is up, but nothing listens on that port: check the port, and that the server runs."
  )

  static let unreachable = Self(
    "unreachable", "No route leads to the host.", retry: .reconnectSoon, exit: .unreachable,
    cost: .neverSent,
    advice: { context in
      switch context.native?.socket {
      case .failed(EAFNOSUPPORT):
        "Leave out what chooses the family (-4, -6, AddressFamily), or name another address."
      case .failed(ENODEV):
        """
        This machine has no such address or interface now, or none of the host's family: bring it \
        up, or choose another (BindAddress, BindInterface).
        """
      case .failed(EACCES), .failed(EPERM):
        "Check the firewall and the routes of this machine (`ip route get ADDRESS`)."
      default: "No route leads there: check the network or VPN, and that the address is right."
      }
    })

  static let dialTimeout = Self(
    "dialTimeout", "No answer came before the deadline of the dial.", exit: .timedOut,
    remedy: """
      No answer came at all: the host is down, or a firewall drops the packets. Check address \
      and port; on a slow network allow more time.
      """)

  static let localResource = Self(
    "localResource", "This machine ran out of descriptors, ports or memory.", exit: .busy,
    cost: .neverSent,
    advice: { context in
      guard context.native?.socket == .failed(errno: EADDRINUSE) else {
        return "Close connections or programs on this machine, or raise its limits (`ulimit -n`)."
      }
      return """
        A forward cannot be opened: choose another port or path for it, or do without \
        ExitOnForwardFailure: then this is a warning, and it is tried again.
        """
    })

  static let internalFault = Self(
    "internalFault", "A bug in this program.", retry: .reconnectOnce, exit: .internalFault)

  static let cancelled = Self(
    "cancelled", "The caller canceled.", retry: .never, exit: .interrupted)
}
