"""Sign: make keys, envelopes, roots and registries.

Nothing here judges: what is written is read again by ``calaudit.trust``, which trusts none of it. Secrets stay inside
the functions that need them: no exception, no log and no representation shows one.
"""
