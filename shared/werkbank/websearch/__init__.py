"""Web search: when a question needs it, what it is asked, what is told while it works (WS-01 to WS-07)."""
