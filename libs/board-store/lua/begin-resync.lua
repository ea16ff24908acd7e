-- Begins a comparison of a shard with Kafka: from now on, until recover.lua ends it, every call is refused.
--
-- KEYS  1 continuity, 2 lease of the comparison
-- ARGV  1 continuity that the caller has seen ('' for none), 2 token of the lease
-- Returns  the continuity to end it with; '' when the shard has changed since, or somebody else holds the lease
-- Cost  O(1)
--
-- Only the holder of the lease begins a comparison. recover.lua checks the value that this script writes, not the lease. So a
-- process that was delayed can't end the comparison if another one has begun since, or the shard was emptied again.

-- include names.lua
-- include lease.lua
-- include clock.lua
-- include continuity.lua

local seen = call('GET', KEYS[1]) or ''
if seen ~= ARGV[1] or not holds_lease(KEYS[2], ARGV[2]) then return '' end
local begun = format('%s %d', COMPARING, math.max(now_in_us(), time_of(seen) + 1))
call('SET', KEYS[1], begun)
return begun
