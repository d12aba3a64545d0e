"""The page's numbers; each is written once, here."""

SESSION_HOURS = 12.0
"""How long somebody stays signed in who does nothing."""
MOST_SESSIONS = 1000
"""Who is signed in; beyond that the one that was idle longest goes."""
MOST_ENTRIES = 100
"""Lines of a timeline's window on one page of its list, and of those without a date; the rest is counted."""
MOST_ROWS = 12
"""Rows of events that the time axis draws one above the other."""
MOST_FACTS = 50
"""Facts on one page of them."""
MOST_QUEUED = 50
"""Stale facts that are shown at a time."""
MOST_ENTITIES = 32
"""Entities of the graph: those spoken of most."""
MOST_MENTIONS = 200
"""Memories of one entity that the graph counts, newest first."""
MOST_NODES = 400
"""Nodes of the tree that are listed at once, newest first."""
MOST_POINTS = 500
"""Points of the map's level; of more, evenly chosen ones."""
MOST_MEMORIES = 40
"""Recalled memories that are explained one by one; the rest is counted."""
MOST_TURNS = 200
"""Turns of a conversation on one page of it."""
MOST_SESSIONS_LISTED = 40
"""Conversations on one page of their list."""
SHOWN_MEMORIES = 10
"""Recalled memories that are shown before somebody asks for more."""
MAP_COLOURS = 8
"""Colours that people tell apart: of more months, quarters or years are coloured."""
MAP_LABELS = 9
"""Regions of the map that get a name."""
RECENT_DAYS = 30
"""What counts as lately, on the overview."""
