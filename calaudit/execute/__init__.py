"""Execute: runs the steps of a port, shut in as ``port.yaml`` says, and publishes what they made with who ran it.

The auditor never imports this package: it judges what was published, from the files alone. A run goes through these
stations: ``steps`` and ``order`` (what to run, after what), ``state`` (what need not run again), ``toolchains`` and
``workspace`` (what the command sees), an executor (``local``, ``bwrap``, ``oci``; ``process`` does their common work),
``record`` (what was read and written), ``links`` (what is signed) and ``journal`` (how it reaches the port).
``running`` puts them together. Nothing is written in a port before the journal commits.
"""
