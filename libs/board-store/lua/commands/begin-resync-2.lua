-- Begins a resync of a shard: until end-resync-13.lua ends it, every apply call is refused.
--
-- KEYS  1 continuity, 2 lease of the resync
-- ARGV  1 continuity that the caller has seen ('' for none), 2 token of the lease
-- Returns  the continuity to end the resync with; '' if the continuity is no longer the one in
--          argument 1, or another process holds the lease
-- Cost  O(1)
--
-- Only the holder of the lease begins a resync. end-resync-13.lua checks the value that this script
-- writes, not the lease: a delayed process can't end its resync once another resync has begun, or
-- the shard was emptied meanwhile.

-- include shard.lua
-- include lease.lua

local seen = call('GET', KEYS[1]) or ''
if seen ~= ARGV[1] or not holds_lease(KEYS[2], ARGV[2]) then return '' end
local begun = format('%s %d', RESYNCING, math.max(now_in_us(), time_of(seen) + 1))
call('SET', KEYS[1], begun)
return begun
