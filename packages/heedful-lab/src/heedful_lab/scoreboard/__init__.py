"""Every system that a reader would name, at several numbers of labels: accuracy, calibration, speed and size."""
