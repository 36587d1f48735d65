package import BridgeSessionProtocol

/// The names of what is copied and not complete yet, in the directory of the file that it becomes.
/// They are the same in every run of the same copy, so that a later one finds what is left.
package struct PartNames {
  /// The part of a file that comes in one stream.
  package let whole: [UInt8]

  /// Of the copy `transfer`, for the file `name`.
  package init(_ name: [UInt8], of transfer: Identifier) {
    let digest = FileHash.digest(of: transfer.bytes + name).prefix(8)
    whole = Array(".bridge-copy-".utf8) + Hexadecimal.ascii(digest)
  }

  /// The part of a file that comes in so many streams, which all write it.
  package func striped(_ count: Int) -> [UInt8] { whole + Array(".\(count)".utf8) }

  /// Who writes that: see `PartOwner`.
  package func owner(_ count: Int) -> [UInt8] { striped(count) + Array(".run".utf8) }

  /// Removes what runs with another number of streams left, which no run goes on with.
  ///
  /// - Parameter count: the number of this run; nil for one stream.
  func removeOthers(than count: Int?, in directory: OpenFile) {
    if count != nil, let file = try? directory.reopen(whole), file.lock(),
      file.isNamed(whole, in: directory)
    {
      directory.remove(whole)
    }
    for other in FileStripe.counts where other != count {
      PartOwner.clear(PartOwner.Place(self, of: other, in: directory))
    }
  }
}
