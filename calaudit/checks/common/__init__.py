"""Rules of every gate and of the port as a whole."""
