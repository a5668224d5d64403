"""What goes to a vendor, and what comes back: work that is done on somebody else's machine.

``kit`` packs what a vendor has to know, ``attest`` signs for a build that was done elsewhere, ``receive`` checks what
came back before anything of it is in the port. ``tar_pack`` writes archives, ``tar`` reads them; ``places`` says what
a name in one may be, ``admission`` what may come at all, ``statements`` whether what was signed holds.
"""
