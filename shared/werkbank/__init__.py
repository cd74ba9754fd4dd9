"""Werkbank: an AI workspace that runs without servers. `bootstrap` builds it, `domain` names its things."""
