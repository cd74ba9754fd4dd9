"""Everything about models but the SDKs: which there are, what they cost, which to take, how an answer is assembled."""
