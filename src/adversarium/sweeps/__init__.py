"""The room of sweeps."""
