/// Who shows something on the terminal that no text may be written over.
struct TextPrelude: Sendable {
  /// Takes back what is shown: what to write before a text, behind which the cursor may be
  /// anywhere.
  let bytes: @Sendable () -> [UInt8]
  /// Forgets what is shown: another program has written to the terminal.
  let forget: @Sendable () -> Void
}
