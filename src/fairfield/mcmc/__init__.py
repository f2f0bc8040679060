"""What sampled laws are made of: Gibbs steps, annealing, tempering."""
