import CLibCrypto
import CLibWebSockets
import Glibc

/// A certificate's fields as OpenSSL prints them.
@safe struct CertificateText {
  private let certificate: OpaquePointer

  /// The text of the certificate that `verification` is about; nil where it is not the server's
  /// own.
  init?(_ verification: OpaquePointer) {
    guard unsafe X509_STORE_CTX_get_error_depth(verification) == 0,
      let certificate = unsafe X509_STORE_CTX_get0_cert(verification)
    else { return nil }
    unsafe self.certificate = certificate
  }

  /// Its fields.
  var details: CertificateDetails {
    let names = unsafe printed { output in
      let index = unsafe X509_get_ext_by_NID(certificate, NID_subject_alt_name, -1)
      guard index >= 0, let names = unsafe X509_get_ext(certificate, index) else { return }
      _ = unsafe X509V3_EXT_print(output, names, 0, 0)
    }
    let issuer = unsafe printed { output in
      _ = unsafe X509_NAME_print_ex(
        output, X509_get_issuer_name(certificate), 0, bridge_name_in_one_line)
    }
    let expires = unsafe printed { output in
      _ = unsafe ASN1_TIME_print(output, X509_get0_notAfter(certificate))
    }
    return CertificateDetails(names: names, issuer: issuer, expires: expires)
  }

  private static let limit = 4096

  private func printed(_ write: (OpaquePointer) -> Void) -> String {
    guard let output = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer { unsafe BIO_free(output) }
    unsafe write(output)
    var bytes = [UInt8](repeating: 0, count: Self.limit)
    let count = unsafe BIO_read(output, &bytes, Int32(bytes.count))
    return String(decoding: bytes.prefix(Int(max(0, count))), as: UTF8.self)
  }
}
