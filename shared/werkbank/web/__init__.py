"""The adapter to the open web: fetches pages that a model names, and nothing that only we could reach."""
