"""Beginning a port: from a directory with a model's ``config.json`` to a port directory that says what is missing."""
