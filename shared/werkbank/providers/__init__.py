"""Adapters to the model providers: the only modules that know an LLM SDK. Each SDK is imported when first used."""
