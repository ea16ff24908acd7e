-- What a shard says of its continuity.
--
-- KEYS  1 continuity
-- Returns  { replication id of the server, continuity ('' for none), 1 when it is continued, else 0 }
-- Cost  O(1)

-- include names.lua
-- include continuity.lua

local continuity = call('GET', KEYS[1])
return { replication_id(), continuity or '', is_continued(continuity) and 1 or 0 }
