"""A laboratory for the theory of adversarial training."""
