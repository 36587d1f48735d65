/// The protocol in which an agent asks, with JSON-RPC 2.0 in lines over its standard streams.
public enum ApprovalDialect: String, Sendable, Hashable, Codable {
  /// Agent Client Protocol 1: `session/request_permission`, `$/cancel_request`
  /// (agentclientprotocol/agent-client-protocol, schema/v1/schema.json).
  case acp
  /// Model Context Protocol up to 2025-11-25: `elicitation/create`, `notifications/cancelled`
  /// (modelcontextprotocol/modelcontextprotocol, schema/2025-11-25/schema.ts). Later revisions ask
  /// in the result of a request instead.
  case mcp
  /// The app server of codex: `item/commandExecution/requestApproval`,
  /// `item/fileChange/requestApproval`, the older `execCommandApproval` and `applyPatchApproval`,
  /// and `serverRequest/resolved` (openai/codex, codex-rs/app-server-protocol/schema/json, and
  /// "Approvals" of codex-rs/app-server/README.md).
  case codex
}
