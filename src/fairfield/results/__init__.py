"""What a criterion returns: values, comparisons, interactions; shown, saved, exported."""
