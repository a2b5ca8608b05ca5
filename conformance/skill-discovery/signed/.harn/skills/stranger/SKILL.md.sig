{
  "schema": "harn-skill-sig/v1",
  "signed_at": "2026-01-05T08:00:00Z",
  "signer_fingerprint": "7714c2fd1ebc78bc815e54dd68c5f03c392c8ec2e8eb4491f2670530a8d86bbe",
  "ed25519_sig_base64": "WH/qc6ShsLus+wGOC/4DoZST0WlhjM81Fqb5pXCPlJyV+nVut5V4qwxVe1o6CPfqis/Ms3aI1QvFqFlSd7oXAA==",
  "skill_sha256": "1a4e2f54976cf01fd5d4da82eb5a9c4df89f73e2db73d31bdb4f569a08626642"
}
