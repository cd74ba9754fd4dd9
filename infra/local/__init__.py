"""The laptop twin: runs `template.yaml` on one machine, without Docker or an AWS account.

The template and the state machines are the only description of the system: functions, routes, queues and their limits
are read from them. AWS's services come from moto, the functions run under AWS's own runtime client, and PostgreSQL is
the real one. Start it with `python -m infra.local`, or inside a test with `infra.local.stack.LocalStack`.
"""
