"""The tests of Citus are collected only where there is one."""

import os

collect_ignore = [] if os.environ.get("EVERWHEN_TEST_CITUS_DSN") else ["test_citus.py"]
