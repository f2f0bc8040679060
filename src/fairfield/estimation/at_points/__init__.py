"""The extension at points that follow the worths: draws there, kept in a pool, read by least squares."""
