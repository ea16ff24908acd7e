-- Reads the continuity of a shard: see continuity.lua.
--
-- KEYS  1 continuity
-- ARGV  none
-- Returns  { replication id of the server, continuity ('' for none), whether it names
--          this server (1, 0) }
-- Cost  O(1)

-- include shard.lua

local continuity = call('GET', KEYS[1])
return { replication_id(), continuity or '', is_continued(continuity) and 1 or 0 }
