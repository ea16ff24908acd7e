-- Reads the continuity of a shard (see continuity.lua), and the time of its server.
--
-- KEYS  continuity
-- ARGV  none
-- Returns  { replication id of the server, continuity ('' for none), whether it names
--          this server (1, 0), time in us }
-- Cost  O(1)

-- include shard.lua

local stored = call('GET', continuity)
return {
  replication_id(),
  stored or '',
  is_continued(stored) and 1 or 0,
  format('%d', now_in_us()),
}
