-- The watermarks of a shard, with the continuity that they belong to. Writes nothing.
--
-- KEYS  1 continuity, 2 watermarks
-- Returns  { continuity, '' when the shard is not continued, then partition, watermark, ... }
-- Cost  O(partitions)

-- include names.lua
-- include continuity.lua

local continuity = call('GET', KEYS[1])
local found = call('HGETALL', KEYS[2])
table.insert(found, 1, is_continued(continuity) and continuity or '')
return found
