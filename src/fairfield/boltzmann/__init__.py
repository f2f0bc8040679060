"""The law p(S) ∝ exp(F(S)/T) of coalitions: exact, sampled, marginal."""
