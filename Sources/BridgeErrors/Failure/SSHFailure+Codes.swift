extension SSHFailure {
  /// The message of a login to which no credential could be offered.
  package static let nothingOffered = "no credential was offered"
  /// The message of one that was accepted in part, and to which no more could be offered.
  package static let nothingMoreOffered = "no further credential was offered"
}

extension SSHFailure.Code {
  package static let none: Self = 0
  package static let socketNone: Self = -1
  package static let bannerReceive: Self = -2
  package static let bannerSend: Self = -3
  package static let invalidMAC: Self = -4
  package static let kexFailure: Self = -5
  package static let allocation: Self = -6
  package static let socketSend: Self = -7
  package static let keyExchangeFailure: Self = -8
  package static let timeout: Self = -9
  package static let hostKeyInit: Self = -10
  package static let hostKeySign: Self = -11
  package static let decrypt: Self = -12
  package static let socketDisconnect: Self = -13
  package static let protocolError: Self = -14
  package static let passwordExpired: Self = -15
  package static let file: Self = -16
  package static let methodNone: Self = -17
  package static let authenticationFailed: Self = -18
  package static let publicKeyUnverified: Self = -19
  package static let channelOutOfOrder: Self = -20
  package static let channelFailure: Self = -21
  package static let channelRequestDenied: Self = -22
  package static let channelUnknown: Self = -23
  package static let windowExceeded: Self = -24
  package static let packetExceeded: Self = -25
  package static let channelClosed: Self = -26
  package static let channelEOFSent: Self = -27
  package static let zlib: Self = -29
  package static let socketTimeout: Self = -30
  package static let requestDenied: Self = -32
  package static let methodNotSupported: Self = -33
  package static let invalidArgument: Self = -34
  package static let invalidPollType: Self = -35
  package static let publicKeyProtocol: Self = -36
  package static let wouldBlock: Self = -37
  package static let bufferTooSmall: Self = -38
  package static let badUse: Self = -39
  package static let compression: Self = -40
  package static let outOfBoundary: Self = -41
  package static let agentProtocol: Self = -42
  package static let socketReceive: Self = -43
  package static let encrypt: Self = -44
  package static let badSocket: Self = -45
  package static let knownHosts: Self = -46
  package static let windowFull: Self = -47
  package static let keyFileAuthenticationFailed: Self = -48
  package static let randomness: Self = -49

  /// The number's name in libssh2.h without `LIBSSH2_ERROR_`, or an empty string.
  public var symbol: String {
    let index = -rawValue
    return Self.symbols.indices.contains(index) ? Self.symbols[index] : ""
  }

  private static let symbols = [
    "NONE", "SOCKET_NONE", "BANNER_RECV", "BANNER_SEND", "INVALID_MAC", "KEX_FAILURE", "ALLOC",
    "SOCKET_SEND", "KEY_EXCHANGE_FAILURE", "TIMEOUT", "HOSTKEY_INIT", "HOSTKEY_SIGN", "DECRYPT",
    "SOCKET_DISCONNECT", "PROTO", "PASSWORD_EXPIRED", "FILE", "METHOD_NONE",
    "AUTHENTICATION_FAILED", "PUBLICKEY_UNVERIFIED", "CHANNEL_OUTOFORDER", "CHANNEL_FAILURE",
    "CHANNEL_REQUEST_DENIED", "CHANNEL_UNKNOWN", "CHANNEL_WINDOW_EXCEEDED",
    "CHANNEL_PACKET_EXCEEDED", "CHANNEL_CLOSED", "CHANNEL_EOF_SENT", "SCP_PROTOCOL", "ZLIB",
    "SOCKET_TIMEOUT", "SFTP_PROTOCOL", "REQUEST_DENIED", "METHOD_NOT_SUPPORTED", "INVAL",
    "INVALID_POLL_TYPE", "PUBLICKEY_PROTOCOL", "EAGAIN", "BUFFER_TOO_SMALL", "BAD_USE",
    "COMPRESS", "OUT_OF_BOUNDARY", "AGENT_PROTOCOL", "SOCKET_RECV", "ENCRYPT", "BAD_SOCKET",
    "KNOWN_HOSTS", "CHANNEL_WINDOW_FULL", "KEYFILE_AUTH_FAILED", "RANDGEN",
  ]
}
