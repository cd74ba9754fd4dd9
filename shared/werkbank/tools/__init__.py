"""What a model can do: typed functions, their JSON Schema, and the ledger-kept execution of calls (TB-01)."""
