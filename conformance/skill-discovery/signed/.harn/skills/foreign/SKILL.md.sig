{
  "schema": "harn-skill-sig/v9",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "qGMoLvRxBpEWXcHstk+POX5cx3x32R/0GOFObx8Vagj9i1o+RusJC2YgYxPPwE+9KToe+pt02D5L7FW/QujtBw==",
  "skill_sha256": "34dff5229d1789cc0edb66251ab753aa4c9ed451c7aae5a5c68d0890b937d92f"
}
