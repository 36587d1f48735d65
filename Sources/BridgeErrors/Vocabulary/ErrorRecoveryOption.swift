#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One way out of an error, as a button or a key offers it (S1-106…S1-121).
///
/// Options describe; they do nothing by themselves. The caller that shows them executes them by
/// `kind`, and runs `action` only for `.custom`.
public struct ErrorRecoveryOption: Identifiable, Sendable {
  /// What an option means, by a name that is the same in every process.
  public enum Kind: String, Sendable, CaseIterable, Codable {
    /// Run the operation again.
    case retry
    /// Give the operation up.
    case cancel
    /// Close the message.
    case dismiss
    /// Connect again now.
    case reconnect
    /// Show the settings of the connection.
    case checkSettings
    /// Open the settings of the app or system.
    case openSettings
    /// End the operation or the session.
    case abort
    /// Wait until the running operation ends.
    case waitForCompletion
    /// Show the files of a directory.
    case browse
    /// Grant the permission and run the operation again.
    case retryWithPermission
    /// Continue without the tool.
    case skipTool
    /// An option of the app.
    case custom
  }

  /// How prominent the button is.
  public enum ButtonStyle: String, Sendable, CaseIterable {
    /// Prominent: the recommended action.
    case primary
    /// An alternative action.
    case secondary
    /// A dangerous action (abort, delete).
    case destructive
  }

  /// Names this option within this process; the static ones keep theirs.
  public let id: UUID
  /// What it means.
  public let kind: Kind
  /// The text of its button.
  public let title: String
  /// The name of an SF Symbol.
  public let icon: String
  /// How prominent it is.
  public let style: ButtonStyle
  /// What a `.custom` option does; empty for the static ones.
  public let action: @Sendable () async -> Void

  /// An option of an application's own.
  public init(
    title: String, icon: String, style: ButtonStyle, action: @escaping @Sendable () async -> Void
  ) {
    self.init(id: UUID(), .custom, title, icon, style, action: action)
  }

  private init(
    id: UUID = UUID(), _ kind: Kind, _ title: String, _ icon: String, _ style: ButtonStyle,
    action: @escaping @Sendable () async -> Void = {}
  ) {
    self.id = id
    self.kind = kind
    self.title = title
    self.icon = icon
    self.style = style
    self.action = action
  }

  /// The same option, with the same id, that does `action`.
  public func performing(_ action: @escaping @Sendable () async -> Void) -> Self {
    Self(id: id, kind, title, icon, style, action: action)
  }

  /// Run the failed operation again; the caller executes it.
  public static let retry = Self(.retry, "Retry", "arrow.clockwise", .primary)
  /// Leave it.
  public static let cancel = Self(.cancel, "Cancel", "xmark", .secondary)
  /// Acknowledge the error.
  public static let dismiss = Self(.dismiss, "OK", "checkmark", .primary)
  /// Connect again.
  public static let reconnect = Self(
    .reconnect, "Reconnect", "arrow.triangle.2.circlepath", .primary)
  /// Look at the settings of the application.
  public static let checkSettings = Self(.checkSettings, "Settings", "gear", .secondary)
  /// Look at the settings of the system.
  public static let openSettings = Self(.openSettings, "Open Settings", "gear", .secondary)
  /// Stop what is running.
  public static let abort = Self(.abort, "Abort", "xmark.octagon", .destructive)
  /// Let it run to its end.
  public static let waitForCompletion = Self(.waitForCompletion, "Wait", "clock", .secondary)
  /// Look for the file.
  public static let browse = Self(.browse, "Browse", "folder", .secondary)
  /// Try again with the permission granted.
  public static let retryWithPermission = Self(
    .retryWithPermission, "Grant Permission", "checkmark.shield", .primary)
  /// Go on without the tool.
  public static let skipTool = Self(.skipTool, "Skip", "forward", .secondary)
}

extension ErrorRecoveryOption.Kind {
  /// The option of this kind; nil for `.custom`, which has no fixed look.
  public var option: ErrorRecoveryOption? {
    switch self {
    case .retry: .retry
    case .cancel: .cancel
    case .dismiss: .dismiss
    case .reconnect: .reconnect
    case .checkSettings: .checkSettings
    case .openSettings: .openSettings
    case .abort: .abort
    case .waitForCompletion: .waitForCompletion
    case .browse: .browse
    case .retryWithPermission: .retryWithPermission
    case .skipTool: .skipTool
    case .custom: nil
    }
  }

  /// The key that chooses it on a terminal: `r` means "now" for whatever is waited for.
  public var key: Character {
    switch self {
    case .retry, .reconnect: "r"
    case .cancel: "c"
    case .dismiss: "o"
    case .checkSettings, .openSettings: "s"
    case .abort: "a"
    case .waitForCompletion: "w"
    case .browse: "b"
    case .retryWithPermission: "g"
    case .skipTool: "k"
    case .custom: "x"
    }
  }
}

extension ErrorRecoveryOption: Hashable {
  /// Two options are equal that look and mean the same, whatever their ids and actions.
  public static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind && left.title == right.title && left.icon == right.icon
      && left.style == right.style
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(title)
    hasher.combine(icon)
    hasher.combine(style)
  }
}
