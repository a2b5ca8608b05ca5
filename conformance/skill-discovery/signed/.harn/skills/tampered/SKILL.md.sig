{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "b31QAr3K2w94uPfVcPcRixYyG8feN04nlXZMmMeP9fh6Fuqx39gzxwzv63GnpdlAu9C78HcFShAVY+M+pDdhAw==",
  "skill_sha256": "6fec00d6e7223fd07f06a5f33c4d17c0deece1f8246910b56763e49f3e300a00"
}
