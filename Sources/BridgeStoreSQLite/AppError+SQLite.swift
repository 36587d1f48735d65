import BridgeErrors
import GRDB

extension AppError {
  /// What an error of SQLite means to a caller.
  ///
  /// By its result code (https://www.sqlite.org/rescode.html); texts are not looked at.
  init(sqlite error: any Error, path: String, operation: String) {
    switch error {
    case let error as AppError: self = error
    case let error as StoreRefusal: self = .storeUnusable(store: path, problem: error.problem)
    case let error as DatabaseError:
      if let problem = StoreProblem(sqlite: error.resultCode) {
        self = .storeUnusable(store: path, problem: problem)
      } else if error.resultCode == .SQLITE_CANTOPEN {
        self = .fileWriteError(path: path, reason: "it cannot be opened or made")
      } else {
        self = .databaseError(
          operation: operation,
          detail: "\(error.message ?? "no text") (SQLite \(error.extendedResultCode.rawValue))")
      }
    default: self = .databaseError(operation: operation, detail: "\(error)")
    }
  }
}

extension StoreProblem {
  fileprivate init?(sqlite code: ResultCode) {
    switch code {
    case .SQLITE_NOTADB: self = .notADatabase
    case .SQLITE_BUSY, .SQLITE_LOCKED: self = .inUse
    case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
    case .SQLITE_FULL: self = .full
    case .SQLITE_CORRUPT: self = .damaged
    default: return nil
    }
  }
}
