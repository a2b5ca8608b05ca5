{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "2wAtsAeZoNkiUi2D5WV2h+FJBsbbK+EuqR7Y9PjFW2QNxGWD7jq8JG7KWLyl6vMevf/tlqmYUCKljpeGLq8WBA==",
  "skill_sha256": "3c2be1997fca259bc6f3da916299539427d9da990df0ab13cb2080536f9b3a3d"
}
