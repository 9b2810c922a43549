"""Papers: a folder each, with paper.toml, claims.toml and one short file an experiment."""
