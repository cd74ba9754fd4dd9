"""Money: every model call is reserved, then settled (AI-08)."""
