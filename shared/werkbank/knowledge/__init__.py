"""The knowledge store: indexing files once, finding passages, remembering what runs learnt (KS)."""
