"""Outputs that nothing half-written, no control character and no formula spoils."""
