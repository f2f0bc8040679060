"""What is said and whether it holds: one function of the evidence for each claim.

A function gets numbers and returns the claim with its verdict; it computes nothing, reads no file,
and its claim says what it judges. Experiments compute the numbers.
"""
