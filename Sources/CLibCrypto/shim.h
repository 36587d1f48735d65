#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/modes.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <string.h>

// Private keys, by functions whose parameters are macros or arrays that Swift does not import.

static inline int bridge_passphrase(char *buffer, int size, int writes, void *given) {
  (void)writes;
  size_t length = given ? strlen((const char *)given) : 0;
  if (!given || length > (size_t)size) return -1;
  memcpy(buffer, given, length);
  return (int)length;
}

// The private key in a PEM or PKCS #8 text, of any kind; NULL where it cannot be read. `passphrase`
// is NULL or ends with a zero byte. No terminal is asked for one.
static inline EVP_PKEY *bridge_read_key(const void *text, int length, const char *passphrase) {
  BIO *bio = BIO_new_mem_buf(text, length);
  if (!bio) return NULL;
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, bridge_passphrase, (void *)passphrase);
  BIO_free(bio);
  ERR_clear_error();
  return key;
}

// A private key that is not encrypted: DER of PKCS#8 or of the key's own type.
static inline EVP_PKEY *bridge_read_der_key(const unsigned char *bytes, long length) {
  EVP_PKEY *key = d2i_AutoPrivateKey(NULL, &bytes, length);
  ERR_clear_error();
  return key;
}

// An RSA key of modulus, public and private exponent, each most significant byte first.
static inline EVP_PKEY *bridge_make_rsa(const unsigned char *n, int nLength, const unsigned char *e,
                                        int eLength, const unsigned char *d, int dLength) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  BIGNUM *modulus = BN_bin2bn(n, nLength, NULL), *exponent = BN_bin2bn(e, eLength, NULL);
  BIGNUM *secret = BN_bin2bn(d, dLength, NULL);
  if (builder && context && modulus && exponent && secret &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_D, secret) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) && EVP_PKEY_fromdata_init(context) == 1) {
    if (EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) key = NULL;
  }
  for (OSSL_PARAM *one = parameters; one && one->key; one++) OPENSSL_cleanse(one->data, one->data_size);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  BN_free(modulus);
  BN_free(exponent);
  BN_clear_free(secret);
  ERR_clear_error();
  return key;
}

// An ECDSA key of a named curve, its private number and its public point; NULL where these do not
// belong together.
static inline EVP_PKEY *bridge_make_ec(const char *curve, const unsigned char *d, int dLength,
                                       const unsigned char *point, size_t pointLength) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = NULL;
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  BIGNUM *secret = BN_bin2bn(d, dLength, NULL);
  if (builder && context && secret &&
      OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) &&
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, pointLength) &&
      OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, secret) &&
      (parameters = OSSL_PARAM_BLD_to_param(builder)) && EVP_PKEY_fromdata_init(context) == 1) {
    if (EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) key = NULL;
  }
  EVP_PKEY_CTX *check = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
  if (key && (!check || EVP_PKEY_pairwise_check(check) != 1)) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  EVP_PKEY_CTX_free(check);
  for (OSSL_PARAM *one = parameters; one && one->key; one++) OPENSSL_cleanse(one->data, one->data_size);
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  EVP_PKEY_CTX_free(context);
  BN_clear_free(secret);
  ERR_clear_error();
  return key;
}

// The public point of an ECDSA key, not compressed; its length, or -1.
static inline long bridge_ec_point(EVP_PKEY *key, unsigned char *out, size_t space) {
  size_t length = 0;
  int isFound = EVP_PKEY_set_utf8_string_param(key, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                               OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED) == 1 &&
                EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, out, space, &length) == 1;
  ERR_clear_error();
  return isFound ? (long)length : -1;
}

// The modulus (which 0) or public exponent (1), most significant byte first; its length, or -1 where
// it has no space.
static inline int bridge_rsa_number(const EVP_PKEY *key, int which, unsigned char *out, int space) {
  BIGNUM *number = NULL;
  const char *name = which == 0 ? OSSL_PKEY_PARAM_RSA_N : OSSL_PKEY_PARAM_RSA_E;
  if (EVP_PKEY_get_bn_param(key, name, &number) != 1) return -1;
  int length = BN_num_bytes(number);
  length = length <= space ? BN_bn2bin(number, out) : -1;
  BN_free(number);
  return length;
}

// A signature with the named hash, or with the key's own where it is NULL (Ed25519); by RSA with the
// padding of PKCS #1 1.5. Its length, or -1.
static inline long bridge_sign(EVP_PKEY *key, const char *hash, const unsigned char *data, size_t count,
                               unsigned char *out, size_t space) {
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  size_t length = space;
  int isSigned = context && EVP_DigestSignInit_ex(context, NULL, hash, NULL, NULL, key, NULL) == 1 &&
                 EVP_DigestSign(context, out, &length, data, count) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return isSigned ? (long)length : -1;
}

// SHA-256 by the functions whose state is a plain struct: between two blocks it can be stored and
// taken up again, which EVP_MD_CTX does not allow. They read no configuration and load no provider.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline void bridge_sha256_begin(SHA256_CTX *hash) { SHA256_Init(hash); }

static inline void bridge_sha256_add(SHA256_CTX *hash, const void *bytes, size_t length) {
  SHA256_Update(hash, bytes, length);
}

static inline void bridge_sha256_end(const SHA256_CTX *hash, unsigned char digest[32]) {
  SHA256_CTX copy = *hash;
  SHA256_Final(digest, &copy);
}
#pragma clang diagnostic pop

static inline void bridge_sha256_store(const SHA256_CTX *hash, unsigned char bytes[32]) {
  for (int i = 0; i < 32; i++) bytes[i] = (unsigned char)(hash->h[i / 4] >> (24 - i % 4 * 8));
}

// Takes up what `store` wrote after `count` bytes, a multiple of 64.
static inline void bridge_sha256_load(SHA256_CTX *hash, const unsigned char bytes[32],
                                      unsigned long long count) {
  bridge_sha256_begin(hash);
  hash->Nl = (SHA_LONG)(count << 3);
  hash->Nh = (SHA_LONG)(count >> 29);
  for (int i = 0; i < 8; i++) {
    hash->h[i] = (SHA_LONG)bytes[4 * i] << 24 | (SHA_LONG)bytes[4 * i + 1] << 16 |
                 (SHA_LONG)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  }
}

// The block cipher of GCM that bridge_ghash_chain needs: what it encrypts is the key itself, so that
// the hash key is that, too.
static inline void bridge_ghash_key(const unsigned char in[16], unsigned char out[16],
                                    const void *key) {
  (void)in;
  memcpy(out, key, 16);
}

// A chain of GHASH under a key (NIST SP 800-38D, 6.4): `count` times, the next state is the tag of
// the state and the next `size` bytes. 0 without memory.
static inline int bridge_ghash_chain(const unsigned char key[16], unsigned char state[16],
                                     const void *bytes, size_t count, size_t size) {
  static const unsigned char start[12] = {0};
  GCM128_CONTEXT *context = CRYPTO_gcm128_new((void *)key, bridge_ghash_key);
  if (!context) return 0;
  const unsigned char *next = (const unsigned char *)bytes;
  for (; count > 0; count--, next += size) {
    CRYPTO_gcm128_setiv(context, start, sizeof start);
    CRYPTO_gcm128_aad(context, state, 16);
    CRYPTO_gcm128_aad(context, next, size);
    CRYPTO_gcm128_tag(context, state, 16);
  }
  CRYPTO_gcm128_release(context);
  return 1;
}
