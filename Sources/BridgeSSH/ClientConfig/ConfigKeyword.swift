import BridgeErrors

/// A keyword that sets something: one row of the table in `ConfigKeyword+Table.swift`.
package struct ConfigKeyword: Sendable {
  /// What may follow a keyword.
  enum Arity {
    /// One word.
    case one
    /// Words, at least one.
    case several
    /// A line for a shell, whose quotes are the shell's.
    case line
  }

  /// Which of the lines with one keyword count.
  enum Counting: Equatable {
    /// The first one decides.
    case first
    /// All of them, each once, up to a number.
    case all(limit: Int)
    /// All of them as often as they are read, up to a number: a later one may take an earlier one
    /// back.
    case every(limit: Int)
  }

  /// What a line does once the names of host, port and user are known.
  typealias Effect = @Sendable (ConfigNames, inout ClientConfig) throws(AppError) -> Void

  /// As ssh_config(5) spells it.
  package let name: String
  /// What may follow.
  let arity: Arity
  /// Which lines count. Keywords of one slot are counted together, in the order of the lines.
  let counting: Counting
  /// The keyword's own name, or the noun for what it shares with others.
  let slot: String
  /// Whether leaving it out may allow what it forbids.
  let isRestriction: Bool
  /// The sentence for a value that is not taken as it is meant.
  let warning: @Sendable (ConfigEntry) -> String?
  /// Checks the words, also where an earlier line has decided, and returns their effect.
  let parse: @Sendable (ConfigEntry) throws(AppError) -> Effect

  /// A keyword whose effect needs no more than its value.
  init<Value: Sendable>(
    _ name: String, _ read: @escaping ConfigValue.Reader<Value>, isRestriction: Bool = false,
    warning: @escaping @Sendable (ConfigEntry) -> String? = { _ in nil },
    effect: @escaping @Sendable (inout ClientConfig, Value) -> Void
  ) {
    self.name = name
    self.isRestriction = isRestriction
    self.warning = warning
    arity = .one
    counting = .first
    slot = name
    parse = { (entry) throws(AppError) -> Effect in
      let value = try read(entry.text, entry.refusal)
      return { _, config in effect(&config, value) }
    }
  }

  /// A keyword whose value is that of one field.
  init<Value: Sendable>(
    _ name: String, _ read: @escaping ConfigValue.Reader<Value>, isRestriction: Bool = false,
    warning: @escaping @Sendable (ConfigEntry) -> String? = { _ in nil },
    field: any WritableKeyPath<ClientConfig, Value?> & Sendable
  ) {
    self.init(name, read, isRestriction: isRestriction, warning: warning) { config, value in
      config[keyPath: field] = value
    }
  }

  /// A keyword whose effect needs all that the line says, or the names of host, port and user.
  init(
    _ name: String, _ arity: Arity = .one, _ counting: Counting = .first, slot: String? = nil,
    isRestriction: Bool = false,
    check: @escaping @Sendable (ConfigEntry) throws(AppError) -> Void = { _ in },
    effect:
      @escaping @Sendable (ConfigEntry, ConfigNames, inout ClientConfig) throws(AppError)
      -> Void
  ) {
    self.name = name
    self.arity = arity
    self.counting = counting
    self.slot = slot ?? name
    self.isRestriction = isRestriction
    warning = { _ in nil }
    parse = { (entry) throws(AppError) -> Effect in
      try check(entry)
      return { (names, config) throws(AppError) in try effect(entry, names, &config) }
    }
  }
}
