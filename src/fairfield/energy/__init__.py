"""The energy-based model p(S) ∝ exp(F(S)/T) and its mean-field surrogate."""
