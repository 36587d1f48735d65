import BridgeErrors
import Testing

@Suite("The redactor")
struct RedactorTests {
  /// `~` stands for what must have gone; the rest must be as it was.
  static let secrets: [(String, String)] = [
    ("password=hunter2 rest", "password=~ rest"),
    ("PASSWORD: hunter2", "PASSWORD: ~"),
    ("PGPASSWORD=hunter2 psql", "PGPASSWORD=~ psql"),
    ("db_pass=x;y z", "db_pass=~ z"),
    ("passwd = 'two words' rest", "passwd = '~' rest"),
    ("{\"password\": \"two words\", \"a\": 1}", "{\"password\": \"~\", \"a\": 1}"),
    ("password=\"never closed", "password=\"~"),
    ("'token' => 'abc'", "'token' => '~'"),
    ("token := abc", "token := ~"),
    ("?token=abc&page=2", "?token=~&page=2"),
    ("token: Bearer abc rest", "token: ~ rest"),
    ("client-secret=abc", "client-secret=~"),
    ("api_key: abc, more", "api_key: ~ more"),
    ("API key: abc", "API key: ~"),
    ("apiKey=abc", "apiKey=~"), ("x-api-key: abc", "x-api-key: ~"),
    ("access key = abc", "access key = ~"), ("AWS_ACCESS_KEY=abc", "AWS_ACCESS_KEY=~"),
    ("private_key=abc", "private_key=~"), ("credentials=abc", "credentials=~"),
    ("pwd=abc", "pwd=~"), ("passphrase \"two words\"", "passphrase \"two words\""),
    ("tool --password hunter2 --verbose", "tool --password ~ --verbose"),
    ("tool --token=abc x", "tool --token=~ x"),
    ("tool --api-key \"a b\" x", "tool --api-key \"~\" x"),
    ("Authorization: Bearer abc.def-ghi", "Authorization: ~"),
    ("proxy-authorization: Basic abc==\nNext: line", "proxy-authorization: ~\nNext: line"),
    ("curl -H \"Authorization: Token abc\" https://h", "curl -H \"Authorization: ~\" https://h"),
    ("{\"authorization\": \"Bearer abc\", \"a\": 1}", "{\"authorization\": \"~\", \"a\": 1}"),
    ("Cookie: a=b; c=d", "Cookie: ~"), ("Set-Cookie: sid=1", "Set-Cookie: ~"),
    ("sent Bearer abc123.def", "sent Bearer ~"),
    ("bearer abcdefghijklmnopqrstuvwxyz", "bearer ~"),
    ("https://user:pa:ss@host/p", "https://user:~@host/p"),
    ("https://token@host/p", "https://~@host/p"), ("amqp://u:p@ss@h", "amqp://u:~@h"),
    ("user:pass@host", "user:~@host"), ("curl -u name:pw host", "curl -u name:~ host"),
    ("curl --user name:pw host", "curl --user name:~ host"),
    ("sshpass -p pw ssh host", "sshpass -p ~ ssh host"),
    ("mail alice@example.org now", "mail ~ now"), ("<alice.b+c@mail.example.org>", "<~>"),
    ("to=alice@example.org", "to=~"), ("alice@example.org: unknown", "~: unknown"),
    ("a@b.de,c@d.de", "~,~"), ("alice@openssh.com", "~"), ("a-b@openssh.com.example.org", "~"),
    ("ghp_abcdefghij0123456789 x", "~ x"), ("github_pat_abcdefghij0123", "~"),
    ("glpat-abcdefghij0123", "~"), ("key sk-ant-abcdefghij0123", "key ~"),
    ("xoxb-1234567890-abc", "~"), ("AKIAIOSFODNN7EXAMPLE", "~"),
    ("AIzaSyabcdefghij0123", "~"), ("eyJhbGciOi.eyJzdWIi.sig_nature", "~"),
    ("b3BlbnNzaC1rZXktdjEAAAA", "~"),
    ("a\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nb", "a\n~\nb"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc", "~"),
    ("-----BEGIN A-----\nx\n-----END A", "~"),
    ("{\"password\": \"a\\\"b c\", \"a\": 1}", "{\"password\": \"~\", \"a\": 1}"),
    (
      "{\\\"password\\\": \\\"a b\\\", \\\"a\\\": 1}", "{\\\"password\\\": \\\"~\\\", \\\"a\\\": 1}"
    ),
    ("{\\\"token\\\": \\\"a\\\\\\\"b\\\"}", "{\\\"token\\\": \\\"~\\\"}"),
    ("user:pa/ss@host", "user:~@host"), ("user:pa/s@s@host:/x", "user:~@host:/x"),
    ("user:p(s)s@host", "user:~@host"), ("user:p'w@host", "user:~@host"),
    ("redis://:p'w@h", "redis://:~@h"), ("'redis://:p'w@h' x", "'redis://:~@h' x"),
    ("amqp://u:pa/ss@h/v", "amqp://u:~@h/v"), ("https://u:p?s#s@h/a@b", "https://u:~@h/a@b"),
    ("https://u:p@h/a/@b/c@1.2", "https://u:~@h/a/@b/c@1.2"),
    ("redis://a:b@h,redis://c:d@i", "redis://a:~@h,redis://c:~@i"),
    ("sshpass -phunter2 ssh -p 22 host", "sshpass -p~ ssh -p 22 host"),
    ("sshpass -v -p 'a b' scp x", "sshpass -v -p '~' scp x"),
    ("sshpass -px!y ssh", "sshpass -p~ ssh"),
    ("sk_live_abcdefghij0123 x", "~ x"), ("sk_test_abcdefghij0123", "~"),
    ("rk_live_abcdefghij0123", "~"), ("ASIAIOSFODNN7EXAMPLE", "~"),
    ("hf_abcdefghijABCDEFGHIJklmn", "~"), ("npm_abcdefghijABCDEFGHIJ0123456789", "~"),
    ("xapp-1-A0123-456-abcdef", "~"), ("xoxs-1234567890-abc", "~"),
    ("ya29.a0AfH6SMBabcdef-ghi", "~"),
    ("?sv=1&sig=abc%2Bdef%3D0123456789&x=2", "?sv=1&sig=~&x=2"),
    ("X-Amz-Signature=0123456789abcdef0123&X-Amz-Date=1", "X-Amz-Signature=~&X-Amz-Date=1"),
    ("https://a/cb?code=SplxlOBeZQQYbYS6WxSbIA&x=1", "https://a/cb?code=~&x=1"),
    (
      "to https://a/?x=1&state=af0ifjsldkj&ticket=ST-1856339-aA5Yu",
      "to https://a/?x=1&state=~&ticket=~"
    ),
    ("/x;jsessionid=0123456789abcdef", "/x;jsessionid=~"), ("#session=0123456789", "#session=~"),
    ("AccountName=a;AccountKey=Eby8vdM02xNOcqFlqUwJ==", "AccountName=a;AccountKey=~"),
    ("curl -u\tname:pw host", "curl -u\tname:~ host"),
    ("pwd=/9j4AAQSkZJRg", "pwd=~"), ("db_pwd=/home/me", "db_pwd=~"), ("Pwd=x/home", "Pwd=~"),
    ("p=1 -----BEGIN A-----\npassword=x\n-----END A----- password=y", "p=1 ~ password=~"),
  ]

  @Test func whatIsSecretGoes() {
    for (text, expected) in Self.secrets {
      let wanted = expected.replacing("~", with: Redactor.mark)
      let redacted = Redactor.redacted(text)
      #expect(redacted == wanted)
      #expect(Redactor.redacted(redacted) == redacted, "twice is once")
    }
  }

  static let harmless = [
    "", "ls -la /tmp", "make test", "git clone git@github.com:a/b.git", "ssh user@host uptime",
    "scp a user@host.example:/x", "ssh://user@host:22", "sftp://user@host", "ssh -p 22 host",
    "Authentication failed (username/password)", "Authentication failed using password.",
    "Wrong passphrase or invalid private key file format", "max_tokens: 500, tokens=12",
    "Bearer authentication is required", "bearer of news", "the key: value", "sk-short",
    "password", "password=", "token:", "--password", "--token --verbose", "@", "a@b", "@home",
    "x@y.z", "mailto:", "curl -u name host", "https://host/path?a=b", "eyjafjallajökull", "key=",
    "curve25519-sha256@libssh.org,zlib@openssh.com",
    "aes256-gcm@openssh.com (-o Ciphers=a-b@ssh.com).", "no rijndael-cbc@lysator.liu.se.",
    "pwd=/home/me", "PWD=/ ls", "OLDPWD=~/src make", "pwd: /var/lib/x", "PWD=./a",
    "sig=11", "sig=SIGTERM", "the signature: 0123456789abcdef0123", "npm_config_registry_url=https",
    "npm_lifecycle_event", "hf_hub_download(repo)", "asia-northeast1-docker.pkg.dev", "ya29",
    "task_live_abcdefghij0123", "ssh -p 22 -phost", "sshpass -f file ssh -p 22 host",
    "localhost:5000/app@sha256:abc", "https://host:8080/x@y", "https://[::1]:80/x@y",
    "npm:@scope/pkg@1.0", "uses:actions/checkout@v4", "file:src/logo@2x",
    "https://host/@user", "a/b@c", "host:/path/user@x", "x (a/b@c)",
    "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com (sk-)",
    "webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "/k/sk-ssh-ed25519@openssh.com-agent.pub",
    "id_ecdsa_sk", "sk-bratislava-01.example.org", "sk-production-database-2024-replica",
    "pypi-mirror-01.example.org", "glrt-runner-production-01", "akiahost-production-eu-1",
    "eyjafjallajokull-01.example.org", "SG.example.org", "sg-singapore-01", "AIRFLOW_HOME=/x",
    "aizawa-laboratory-gateway", "key-management-service", "SKIPPED", "dapi", "atbbq",
    "shpat", "whsec", "/usr/share/npm_modules", "exit code=3", "state=established",
    "?state=open&page=2", "?code=404", "session=3", "see https://a/b?page=2#code",
    "accountkeys", "hf_transformer_pipeline_long_name", "ghr", "xoxe", "keyboard-interactive",
    "user@[::1]", "-----END X-----", "Enter the secret word", "sshpass", "-u", "pass",
  ]

  /// One token of each service, at the shortest that it issues.
  @Test(arguments: [
    "ghr_" + digits(36), "glrt-" + mixed(20), "glrt-t1_" + mixed(20), "gldt-" + mixed(20),
    "glpat-" + mixed(20), "dop_v1_" + digits(64), "doo_v1_" + digits(64),
    "pypi-AgEIcHlwaS5vcmc" + mixed(60),
    "whsec_" + mixed(32), "xoxe-1-" + mixed(60), "xoxe.xoxp-1-" + mixed(60),
    "ATATT3xFfGF0" + mixed(60),
    "ATBB" + mixed(32), "sk-ant-api03-" + mixed(80), "sk-proj-" + mixed(48), "sk-" + mixed(48),
    "sk-or-v1-" + digits(64), "hf_" + mixed(34), "npm_" + mixed(36), "AIzaSy" + mixed(33),
    "ya29.a0" + mixed(60), "shpat_" + digits(32), "shpca_" + digits(32), "sq0atp-" + mixed(22),
    "sq0csp-" + mixed(43), "SG." + mixed(22) + "." + mixed(43), "eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.abc",
    "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "ABIAIOSFODNN7EXAMPLE", "GOCSPX-" + mixed(28),
    "dckr_pat_" + mixed(27), "hvs." + mixed(24), "glsa_" + mixed(32), "rubygems_" + digits(48),
    "dapi" + digits(32), "key-" + digits(32), "gsk_" + mixed(52),
    "lin_api_" + mixed(40), "tskey-auth-" + mixed(30), "CCIPAT_" + mixed(30), "ops_eyJ" + mixed(60),
  ])
  func aTokenOfEachService(_ token: String) {
    for (before, after) in [("", ""), ("key ", " rest"), ("x=", "&y"), ("\"", "\""), ("(", ")")] {
      #expect(Redactor.redacted(before + token + after) == before + Redactor.mark + after)
    }
  }

  private static func digits(_ count: Int) -> String {
    String((0..<count).map { Array("3f0a9b27c81d6e45")[$0 % 16] })
  }

  private static func mixed(_ count: Int) -> String {
    String((0..<count).map { Array("aB3dE6gH9jK2mN5pQ8sT")[$0 % 20] })
  }

  /// A shape that is added to the table is recognized: no second list has to know it.
  @Test func aTokenOfEachShape() {
    for shape in TokenShape.all {
      let body =
        switch shape.body {
        case .any, .mixed, .plain: Self.mixed(40)
        case .capitals: Self.mixed(16).uppercased()
        case .hex(let count): Self.digits(count)
        }
      #expect(Redactor.redacted("a \(shape.prefix)\(body) b") == "a \(Redactor.mark) b")
    }
  }

  @Test func whatIsNotStaysExact() {
    for text in Self.harmless { #expect(Redactor.redacted(text) == text) }
  }

  @Test(arguments: [
    "a@", "password=", "-----BEGIN ", "bearer ", "x:y@z.de ", "token token ", "\"", "sk-.", "ya29.",
    "hf_.", "a:b/", "://", ":a/@", "\\", "sshpass -p", "a'b@", "@/",
  ])
  func hostileTextTakesNoMoreThanItsLength(_ unit: String) {
    let long = String(repeating: unit, count: 1 << 15 / unit.utf8.count) + "password=canary"
    #expect(!Redactor.redacted(long).contains("canary"))
  }
}
