"""The compiled step: one scalar function an environment, written from ``docs/reference/plant.md``.

Rules that keep every machine bit-identical: only ``+ - * /``, square root, comparisons, integers and tables; no fused
operations (``fastmath`` stays off); no reduction over environments; state is read into doubles and rounded when stored.
"""
