"""AWS services: object storage, open sockets, state machines, secrets, deployment.

The only modules that import boto3.
"""
