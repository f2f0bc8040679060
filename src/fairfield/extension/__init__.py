"""Extensions: f, ∇f, ∇²f of a game, exactly."""
