"""Papers: one folder per paper, with paper.toml, claims.toml and one short file per experiment."""
