"""From a file's bytes to content objects, a structure and chunks: no AI, no network, no database."""
