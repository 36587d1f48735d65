// One import for the common program: SSH and WebSocket connections that a supervisor keeps up, and
// their errors. Everything else is imported by its own name.
@_exported public import BridgeErrors
@_exported public import BridgeRecovery
@_exported public import BridgeSSH
@_exported public import BridgeSupervision
@_exported public import BridgeTransport
@_exported public import BridgeURLErrors
@_exported public import BridgeWebSocket
