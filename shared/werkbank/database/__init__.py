"""PostgreSQL, the system of record: one transaction per unit of work, isolated by row-level security."""
