import BridgeErrors
import CLibSSH2

extension SSHSession {
  /// The `none` request: the methods that may go on, or nil when the server requires nothing more.
  func probeMethods(user: String) -> Attempt<[String]?> {
    let methods = callForPointer { session -> [String]? in
      let list = unsafe libssh2_userauth_list(session.raw, user, UInt32(user.utf8.count))
      guard let list = unsafe list else { return nil }
      return unsafe String(cString: list).split(separator: ",").map(String.init)
    }
    if case .failed(.none, _) = methods { return .done(nil) }
    return methods.map { $0 }
  }

  /// A key whose private half signs outside libssh2 (a file's here, an agent's there), through
  /// `signer`, which may block, and whose result has the name of its algorithm in front.
  func authenticate(
    _ request: PublicKeyRequest, signer: @escaping ([UInt8]) -> [UInt8]?
  ) -> Attempt<Void> {
    keyRequest = request
    self.signer = signer
    defer { (keyRequest, self.signer) = (nil, nil) }
    var context: UnsafeMutableRawPointer? = unsafe Unmanaged.passUnretained(self).toOpaque()
    let result = unsafe request.withKey { key, count in
      call { session in
        unsafe libssh2_userauth_publickey(
          session.raw, request.user, key, count,
          { _, signature, length, data, count, abstract in
            unsafe SSHSession.owner(abstract)?.sign(signature, length, data, count) ?? -1
          }, &context)
      }
    }
    return result ?? .failed(.publicKeyUnverified, "no key")
  }

  /// A password.
  func authenticate(user: String, password: Secret) -> Attempt<Void> {
    call { session in
      unsafe password.withText { text in
        unsafe libssh2_userauth_password_ex(
          session.raw, user, UInt32(user.utf8.count), text, UInt32(strlen(text)), nil)
      }
    }
  }

  /// Keyboard-interactive; `responder` is called from inside, and may block.
  func authenticate(
    user: String, responder: @escaping (KeyboardInteractiveRequest) -> [Secret]
  ) -> Attempt<Void> {
    self.responder = responder
    defer { self.responder = nil }
    return call { session in
      unsafe libssh2_userauth_keyboard_interactive_ex(session.raw, user, UInt32(user.utf8.count)) {
        name, nameLength, instruction, instructionLength, count, prompts, responses, abstract in
        guard let owner = unsafe SSHSession.owner(abstract) else { return }
        let request = unsafe KeyboardInteractiveRequest(
          name: SessionCallbacks.text(name, nameLength),
          instruction: SessionCallbacks.text(instruction, instructionLength),
          prompts: UnsafeBufferPointer(start: prompts, count: max(0, Int(count))).map {
            unsafe .init(
              text: SessionCallbacks.text($0.text, Int32(clamping: $0.length)),
              isEchoed: $0.echo != 0)
          })
        unsafe owner.answer(request, into: responses)
      }
    }
  }

  private func answer(
    _ request: KeyboardInteractiveRequest,
    into responses: UnsafeMutablePointer<LIBSSH2_USERAUTH_KBDINT_RESPONSE>?
  ) {
    // Without prompts there is nothing to answer, and words to show.
    let answers = responder?(request) ?? []
    guard let responses = unsafe responses else { return }
    for (index, answer) in answers.prefix(request.prompts.count).enumerated() {
      unsafe answer.withText { text in
        // libssh2 frees the text with our allocator, which wipes it.
        let count = unsafe strlen(text)
        guard let block = unsafe allocate(count + 1) else { return }
        unsafe block.copyMemory(from: text, byteCount: count)
        unsafe responses[index].text = block.assumingMemoryBound(to: CChar.self)
        unsafe responses[index].length = UInt32(count)
      }
    }
  }

  private func sign(
    _ signature: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<Int>?, _ data: UnsafePointer<UInt8>?, _ count: Int
  ) -> Int32 {
    let message = unsafe Array(UnsafeBufferPointer(start: data, count: count))
    guard let request = keyRequest, request.covers(message),
      let signed = signer?(message).flatMap(request.given),
      let block = unsafe allocate(signed.count)
    else { return -1 }
    unsafe block.copyMemory(from: signed, byteCount: signed.count)
    unsafe request.gave(block)
    unsafe signature?.pointee = block.assumingMemoryBound(to: UInt8.self)
    unsafe length?.pointee = signed.count
    return 0
  }
}

extension Secret {
  /// Passes the secret as a C string: up to its first NUL byte, copied into a block that is wiped
  /// after.
  func withText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    reveal { bytes in
      let block = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
      unsafe block.initialize(repeating: 0, count: bytes.count + 1)
      for (index, byte) in bytes.enumerated() { unsafe block[index] = CChar(bitPattern: byte) }
      defer {
        unsafe explicit_bzero(block, bytes.count + 1)
        unsafe block.deallocate()
      }
      return unsafe body(block)
    }
  }
}
