"""The page's numbers; each is written once, here."""

SESSION_HOURS = 12.0
"""How long somebody stays signed in who does nothing."""
MOST_SESSIONS = 1000
"""Who is signed in; beyond that the one that was idle longest goes."""
MOST_ENTRIES = 400
"""Lines of a timeline's window that are listed; the rest is counted."""
MOST_ROWS = 14
"""Rows of events that the time axis draws one above the other."""
MOST_FACTS = 300
"""Facts that are drawn as bars; the rest is counted."""
MOST_QUEUED = 50
"""Stale facts that are shown at a time."""
MOST_ENTITIES = 32
"""Entities of the graph: those spoken of most."""
MOST_MENTIONS = 400
"""Memories of one entity that the graph counts, newest first."""
MOST_NODES = 400
"""Nodes of the tree that are listed at once, newest first."""
MOST_POINTS = 1500
"""Points of the map's level; of more, evenly chosen ones."""
MOST_MEMORIES = 40
"""Recalled memories that are explained one by one; the rest is counted."""
