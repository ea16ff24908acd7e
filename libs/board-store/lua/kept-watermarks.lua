-- Reads the watermarks of a shard, and what vouches for them, by one moment.
--
-- KEYS  1 watermarks, 2 records, 3 published, 4 healing
-- Returns  the fields and values of each
-- Cost  O(partitions)
--
-- A script, and no transaction: Redis takes none when memory is full, and that is when people want to know.

-- include names.lua

local kept = {}
for i, key in ipairs(KEYS) do kept[i] = call('HGETALL', key) end
return kept
