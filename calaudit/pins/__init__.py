"""Trust directories, and the one that this user pinned.

The pin lives in the user's state directory, as ssh keeps known hosts: the root that was shown and accepted, where its
successors and the registry are, and the highest versions that were seen. Nothing in a port can supply or change it.
"""

from calaudit.pins.directory import inside_port, load_directory
from calaudit.pins.store import Pin, load_pin, read_pin, record_seen, write_pin

__all__ = ["Pin", "inside_port", "load_directory", "load_pin", "read_pin", "record_seen", "write_pin"]
