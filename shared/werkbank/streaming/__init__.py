"""How a run tells what it does: every event is stored with a gapless number, then pushed (EV-01 to EV-03)."""
