{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "711c61691021f361cd791e12a338b2bc9e81dead94a5f72b3c24deab02875db4",
  "ed25519_sig_base64": "2wAtsAeZoNkiUi2D5WV2h+FJBsbbK+EuqR7Y9PjFW2QNxGWD7jq8JG7KWLyl6vMevf/tlqmYUCKljpeGLq8WBA==",
  "skill_sha256": "4ba0a9e5e7bfc18df2fe4cab46bee4f27432ca37b804036bbaf58722d90a1649"
}
