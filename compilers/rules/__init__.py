"""Safety principles in words to rules of a pack (JIT-Memory paper, Appendix 0.A.2: norm-to-affordance grounding).

A model never writes ASP. It fills in a form (`shape`) whose schema is made from the vocabulary; the rule is written
from the form (`emission`), tried without a model (`gates`), and shown to a person where it is uncertain (`audit`).
"""
