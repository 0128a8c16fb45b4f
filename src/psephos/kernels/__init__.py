"""Compiled inner loops: functions from arrays (and named tuples) to arrays, nothing else."""
