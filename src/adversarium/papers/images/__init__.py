"""Our own benchmark: adversarial training on images, accuracy against time."""
