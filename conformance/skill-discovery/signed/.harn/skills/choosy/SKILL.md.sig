{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "u1eg4bgaH/zmW2znN/LheknVqNND4eIS8afEXnR8ZMr6c3IzzVEbNc5NSkvtYxE+ZjGKKohLLCO/L6HBf0/BBw==",
  "skill_sha256": "30b41042db4e639fb7f03d128e2ff19f89a0bba5d6340c8cbcd07545dc1fa60b"
}
