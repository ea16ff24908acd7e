-- Ends the continuity of a shard that is not what it was: until it is compared with Kafka, nothing is applied to it.
--
-- KEYS  1 continuity
-- Returns  1; 0 when it is to be compared anyway, or is being compared: then nothing was written
-- Cost  O(1)
--
-- What it is set to keeps the time: those of later comparisons only grow.

-- include names.lua
-- include continuity.lua

local continuity = call('GET', KEYS[1])
if not is_continued(continuity) then return 0 end
call('SET', KEYS[1], format('lost %d', time_of(continuity)))
return 1
