-- Begins a comparison of a shard with Kafka: from now on, until heal.lua ends it, every call is refused.
--
-- KEYS  1 continuity
-- ARGV  1 continuity that the caller has seen ('' for none), 2 us after which a comparison that was not ended may be begun anew
-- Returns  the continuity to end it with; '' when the shard has changed since, or somebody else is comparing it
-- Cost  O(1)
--
-- Without this write, one who was held up between asking Kafka and heal.lua could end a comparison of long ago, after the shard
-- was emptied once more.

-- include names.lua
-- include clock.lua
-- include continuity.lua

local seen = call('GET', KEYS[1]) or ''
if seen ~= ARGV[1] then return '' end
local now, before = now_in_us(), time_of(seen)
if is_comparing(seen) and now < before + tonumber(ARGV[2]) then return '' end
local begun = format('%s %d', COMPARING, math.max(now, before + 1))
call('SET', KEYS[1], begun)
return begun
