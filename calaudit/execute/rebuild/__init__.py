"""Rebuild: run a step again and again under other conditions, and explain each byte that differs.

``conditions`` says what can be another way, ``vary`` makes it so, ``session`` runs the builds and keeps their products,
``compare`` finds where two products differ (``archives``, ``compressed``, ``documents``, ``models``, ``arrays`` and
``plain`` know the formats), ``attribute`` finds the conditions on which each difference depends, ``classify`` says what
it is (``tokens`` recognizes times, paths and addresses), and ``report`` and ``run`` write it down. Nothing of a build
is published: the port keeps the products it has.
"""
