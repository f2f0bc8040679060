"""The product law nearest to p(S) ∝ exp(F(S)/T): fixed points x = σ(∇f(x)/T)."""
