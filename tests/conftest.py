"""Two workers on two cores: one thread each, or they starve each other."""

import torch

torch.set_num_threads(1)
