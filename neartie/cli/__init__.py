"""The command line: each command parses, calls one function, writes, and says how it went."""
