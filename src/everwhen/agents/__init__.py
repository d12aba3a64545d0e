"""Agents that everwhen gives a memory to: coding agents, wrapped clients and frameworks."""
