"""The things the product speaks of: models, errors, ids, money, time. Pure; imports nothing of ours."""
