-- Begins a resync of a shard: until end-resync-13.lua ends it, every apply call is refused.
--
-- KEYS  continuity, resync_lease
-- ARGV  seen   continuity that the caller has seen ('' for none)
--       token  of the lease
--       after  time in us: the new continuity is later
-- Returns  the continuity to end the resync with; '' if the continuity is no longer the one that
--          the caller has seen, or another process holds the lease
-- Cost  O(1)
--
-- Only the holder of the lease begins a resync. end-resync-13.lua checks the value that this script
-- writes, not the lease: a delayed process can't end its resync once another resync has begun, or
-- the shard was emptied meanwhile.

-- include shard.lua
-- include lease.lua

local stored = call('GET', continuity) or ''
if stored ~= seen or not holds_lease(resync_lease, token) then return '' end
local before = math.max(time_of(seen), tonumber(after))
local begun = format('%s %d', RESYNCING, math.max(now_in_us(), before + 1))
call('SET', continuity, begun)
return begun
