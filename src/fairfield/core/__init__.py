"""What everything is made of: coalitions, arrays, games and their multilinear extensions."""
