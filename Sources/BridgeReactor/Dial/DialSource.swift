/// The end of a connection that is on this machine.
package enum DialSource: Sendable, Hashable {
  /// An address of this machine, or a name that stands for some.
  case address(String)
  /// Whichever address of the family the network interface of this name has.
  case interface(String)
}
