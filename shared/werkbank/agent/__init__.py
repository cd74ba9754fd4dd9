"""The agent: a question becomes rounds of model and tools until there is an answer.

`start` takes the question, `budget` decides whether another round may begin, `round` is one model call, the tools run
in `werkbank.tools.execution`, `finish` ends it. A Step Functions state machine is the loop (statemachines/agent_run).
"""
