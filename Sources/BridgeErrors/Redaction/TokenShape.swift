/// The look of the access tokens of one service: how they begin, and what follows.
package struct TokenShape: Sendable {
  /// What must follow the beginning, so that host names, paths and variables stay.
  package enum Body: Sendable {
    /// Anything: nothing else begins like this. The token has at least 16 bytes.
    case any
    /// At least so many letters, digits, `_` and `-` that look drawn at random. Words and names of
    /// hosts begin like this as well.
    case mixed(Int)
    /// At least so many letters and digits to the end of the word.
    case plain(Int)
    /// At least so many capitals and digits to the end of the word.
    case capitals(Int)
    /// Exactly so many hexadecimal digits, to the end of the word.
    case hex(Int)
  }

  /// How it begins.
  package let prefix: String
  /// What follows.
  package let body: Body

  /// Every shape that is known; a new one is a row here.
  package static let all: [TokenShape] =
    shapes(
      .any,
      // GitHub, GitLab
      "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-",
      // Anthropic, OpenAI, OpenRouter, Groq, Perplexity, Supabase, Replicate
      "sk-ant-", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-v1-", "gsk_", "pplx-", "sbp_",
      "sb_secret_",
      // Stripe, Svix, Square, Shopify
      "sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_", "sq0atp-", "sq0csp-", "shpat_",
      "shpca_", "shppa_", "shpss_",
      // Slack
      "xoxa-", "xoxb-", "xoxp-", "xoxr-", "xoxs-", "xoxe-", "xoxe.", "xapp-",
      // Google, Atlassian, DigitalOcean, Docker, HashiCorp, Grafana, 1Password
      "ya29.", "GOCSPX-", "ATATT3", "ATCTT3", "dop_v1_", "doo_v1_", "dor_v1_", "dckr_pat_",
      "dckr_oat_", "hvs.", "hvb.", "glsa_", "glc_", "ops_eyJ",
      // PyPI, RubyGems, npm's rivals, Sentry, Linear, Tailscale, Postman, CircleCI, age
      "pypi-AgE", "rubygems_", "sntrys_", "sntryu_", "lin_api_", "tskey-", "PMAK-", "CCIPAT_",
      "pscale_pw_", "pscale_tkn_", "AGE-SECRET-KEY-",
      // JSON web tokens, the body of OpenSSH's keys
      "eyJ", "b3BlbnNzaC1", "AIza")
    + shapes(.mixed(20), "sk-", "SG.", "ATBB", "pypi-", "glrt-", "gldt-", "glcbt-")
    + shapes(.mixed(20), "glptt-", "glft-", "glsoat-", "glagent-", "glimt-", "gloas-", "fo1_")
    // Hugging Face, npm, Figma, Netlify, Notion
    + shapes(.plain(20), "hf_", "npm_", "nfp_", "ntn_")
    // Keys of AWS; Azure's region is asia-…
    + shapes(.capitals(12), "AKIA", "ASIA", "ABIA", "ACCA")
    // Databricks, Mailgun
    + shapes(.hex(32), "dapi", "key-")

  private static func shapes(_ body: Body, _ prefixes: String...) -> [TokenShape] {
    prefixes.map { TokenShape(prefix: $0, body: body) }
  }

  /// The shapes by their first byte.
  private static let byFirst: [[(prefix: [UInt8], body: Body)]] = {
    var table = Array(repeating: [(prefix: [UInt8], body: Body)](), count: 256)
    for shape in all {
      let prefix = Array(shape.prefix.utf8)
      table[Int(prefix[0])].append((prefix, shape.body))
    }
    return table
  }()

  /// How much of a text is looked at to tell a token.
  private static let (shortest, longestLook) = (16, 256)

  /// The end of the token that begins with the word at `word`; nil where none does. `isPart` says
  /// which bytes a token of several words is made of.
  static func end(
    ofTokenAt word: Range<Int>, in bytes: [UInt8], isPart: (UInt8) -> Bool
  ) -> Int? {
    for (prefix, body) in byFirst[Int(bytes[word.lowerBound])]
    where bytes[word.lowerBound...].starts(with: prefix) {
      let start = word.lowerBound + prefix.count
      guard let end = end(of: body, from: start, word: word, bytes, isPart) else { continue }
      return end
    }
    return nil
  }

  private static func end(
    of body: Body, from start: Int, word: Range<Int>, _ bytes: [UInt8], _ isPart: (UInt8) -> Bool
  ) -> Int? {
    func whole() -> Int { bytes[start...].firstIndex { !isPart($0) } ?? bytes.count }
    let isInWord = start <= word.upperBound
    let rest = isInWord ? bytes[start..<word.upperBound] : []
    switch body {
    case .any:
      let end = whole()
      return end - word.lowerBound >= shortest ? end : nil
    case .mixed(let least):
      let look = bytes[start...].prefix(longestLook).prefix(while: \.isASCIIWordPart)
      return look.count >= least && looksRandom(look) ? whole() : nil
    case .plain(let least):
      let isWhole = rest.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit }
      return rest.count >= least && isWhole ? word.upperBound : nil
    case .capitals(let least):
      let isWhole = rest.allSatisfy { 0x41...0x5A ~= $0 || $0.isASCIIDigit }
      return rest.count >= least && isWhole ? word.upperBound : nil
    case .hex(let count):
      let isWhole = rest.allSatisfy { $0.isASCIIDigit || 0x61...0x66 ~= $0 }
      return rest.count == count && isWhole ? word.upperBound : nil
    }
  }

  /// Whether a digit, a capital and a small letter are there, or a long run with a digit that no
  /// hyphen breaks: names are made of words and have neither.
  private static func looksRandom(_ body: ArraySlice<UInt8>) -> Bool {
    guard body.contains(where: \.isASCIIDigit) else { return false }
    let hasCapital = body.contains { 0x41...0x5A ~= $0 }
    let hasSmall = body.contains { 0x61...0x7A ~= $0 }
    if hasCapital && hasSmall { return true }
    return body.split(separator: UInt8(ascii: "-")).contains { run in
      run.count >= 20 && run.contains(where: \.isASCIIDigit)
    }
  }
}
