package import BridgeErrors

/// A host that is not dialed because of what is said about it.
package struct ConfigFailure: Error, Equatable {
  /// The error, with file and line where it is about a line.
  package var error: AppError
  /// Whether a configuration file is at fault, and not the caller's own words.
  package var isInFile = false

  /// A failure with this error.
  package init(error: AppError, isInFile: Bool = false) {
    self.error = error
    self.isInFile = isInFile
  }
}
