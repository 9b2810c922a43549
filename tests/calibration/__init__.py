"""Calibrate fitted estimators: apply them to data that follow the claimed law exactly."""
