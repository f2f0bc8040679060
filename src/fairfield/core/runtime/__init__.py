"""What Python, its packages and the machine give: imports, memory, warnings, attributes worked out once."""
