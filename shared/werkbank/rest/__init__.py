"""The REST API (design §7): FastAPI routers over the use cases and stores."""
