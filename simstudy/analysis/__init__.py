"""Statistics on a table of scores: functions that take a DataFrame and return one."""
