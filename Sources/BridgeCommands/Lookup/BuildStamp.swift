/// The commit that the program was built from. `git archive` replaces the marks in this file
/// (gitattributes(5), export-subst), and `scripts/package` builds from an archive; a build in a
/// checkout has no stamp.
package struct BuildStamp: Sendable, Equatable {
  /// The first twelve digits of the commit's hash.
  package let commit: String
  /// The day of the commit, as YYYY-MM-DD.
  package let date: String

  /// The stamp of `commit` and `date`; nil for a mark that nothing replaced.
  package init?(commit: String, date: String) {
    guard commit.utf8.count >= 12, commit.allSatisfy(\.isHexDigit) else { return nil }
    self.commit = String(commit.prefix(12))
    self.date = date
  }

  /// The stamp of this program; nil where it was built in a checkout.
  package static let own = BuildStamp(commit: "$Format:%H$", date: "$Format:%cs$")
}
