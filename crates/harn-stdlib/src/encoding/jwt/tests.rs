//! Tokens that are made and read, with keys that protect nothing.

use super::*;

const EC_PRIVATE: &str = include_str!("keys/ec_private.pem");
const EC_PRIVATE_SEC1: &str = include_str!("keys/ec_private_sec1.pem");
const EC_PUBLIC: &str = include_str!("keys/ec_public.pem");
const RSA_PRIVATE: &str = include_str!("keys/rsa_private.pem");
const RSA_PRIVATE_PKCS1: &str = include_str!("keys/rsa_private_pkcs1.pem");
const RSA_PUBLIC: &str = include_str!("keys/rsa_public.pem");
const RSA_PUBLIC_PKCS1: &str = include_str!("keys/rsa_public_pkcs1.pem");

fn sign(algorithm: &str, key: &str, claims: &Value) -> String {
    let key = Signing::read(Algorithm::named(algorithm).expect("it is known"), key);
    let key = key.unwrap_or_else(|reason| panic!("{reason}"));
    signed(algorithm, claims, &key).expect("keys of this size sign")
}

fn check(algorithm: &str, key: &str, token: &str) -> Result<Dict, String> {
    let key = Check::read(Algorithm::named(algorithm).expect("it is known"), key)?;
    claims(&Text::new(algorithm), token, &key)
}

fn refused(algorithm: &str, key: &str, token: &str) -> String {
    check(algorithm, key, token).expect_err("it is not to be trusted")
}

#[test]
fn what_one_form_of_a_key_signs_every_form_checks() {
    let given = Value::dict([("sub", "ann".into()), ("exp", Value::Int(1))]);
    for (algorithm, private, public) in [
        ("ES256", EC_PRIVATE, EC_PUBLIC),
        ("ES256", EC_PRIVATE_SEC1, EC_PUBLIC),
        ("RS256", RSA_PRIVATE, RSA_PUBLIC),
        ("RS256", RSA_PRIVATE_PKCS1, RSA_PUBLIC_PKCS1),
    ] {
        let token = sign(algorithm, private, &given);
        assert_eq!(token, sign(algorithm, private, &given), "no chance");
        let read = check(algorithm, public, &token).expect("it is signed");
        assert_eq!(Value::Dict(read), given);
    }
}

#[test]
fn a_token_that_another_made_is_read() {
    // The example that jwt.io shows.
    let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\
                 .eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ\
                 .SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
    let read = check("HS256", "your-256-bit-secret", token).expect("it is signed");
    assert_eq!(
        Value::Dict(read).show(),
        "{iat: 1516239022, name: John Doe, sub: 1234567890}"
    );
}

#[test]
fn what_is_wrong_has_a_name() {
    let part = |json: &str| URL_SAFE_NO_PAD.encode(json);
    let hs256 = |header: &str, claims: &str| {
        let message = format!("{}.{}", part(header), part(claims));
        let code = crate::encoding::digests::hmac_sha256(b"s", message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(code))
    };
    let good = hs256(r#"{"alg":"HS256"}"#, r#"{"a":1}"#);
    assert!(check("HS256", "s", &good).is_ok());
    for (token, problem) in [
        ("", "InvalidToken"),
        ("a.b", "InvalidToken"),
        ("a.b.c.d", "InvalidToken"),
        (&*hs256(r#"{"alg":"none"}"#, "{}"), "InvalidAlgorithm"),
        (&*hs256(r#"{"alg":"RS256"}"#, "{}"), "InvalidAlgorithm"),
        (&*hs256("{}", "{}"), "InvalidAlgorithm"),
        (&*good.replace(".", ".e"), "InvalidSignature"),
        (
            &*hs256(r#"{"alg":"HS256"}"#, r#"{"aud":"x"}"#),
            "InvalidAudience",
        ),
        (
            &*hs256(r#"{"alg":"HS256"}"#, "[]"),
            "JSON error: expected an object, got list",
        ),
    ] {
        assert_eq!(refused("HS256", "s", token), problem, "{token}");
    }
    let unreadable = check("HS256", "s", "?.b.c").expect_err("it is no Base64");
    assert!(unreadable.starts_with("Base64 error: "), "{unreadable}");
    assert!(check("HS256", "t", &good).is_err());
}

#[test]
fn keys_of_another_kind_are_refused() {
    for (algorithm, key) in [
        ("ES256", RSA_PUBLIC),
        ("RS256", EC_PUBLIC),
        ("RS256", RSA_PRIVATE),
        ("ES256", "x"),
    ] {
        assert_eq!(refused(algorithm, key, ""), "InvalidKeyFormat");
    }
    for (algorithm, key) in [
        (Algorithm::Es256, RSA_PRIVATE),
        (Algorithm::Rs256, EC_PRIVATE),
        (Algorithm::Rs256, EC_PRIVATE_SEC1),
        (Algorithm::Es256, EC_PUBLIC),
    ] {
        assert!(Signing::read(algorithm, key).is_err());
    }
}
