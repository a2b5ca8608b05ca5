{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "NyumfoikSGfCMCDTmqLE7bPiTw/fX5W3LLbXFu7a9DUPYqbdXlny5HRZ5E/RqMaCkkLPbBqJrcqx4ZP/M4j4CA==",
  "skill_sha256": "d5c0883946ef4f3a7c7d4c63236294b52ab0ba2e06ac1af246e09c6e5198d278"
}
