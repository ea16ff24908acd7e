-- Keeps a shadow as a snapshot, read-only: nothing is applied to it any more. May be repeated.
--
-- KEYS  1 lease, 2 shadows, 3 snapshots
-- ARGV  1 token, 2 board, 3 generation
-- Returns  1; -5 LEASE_LOST, -6 SHADOW_GONE, -7 NO_ORDER: see order.lua; then nothing was written
-- Cost  O(1)

-- include names.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
if call('HGET', KEYS[3], ARGV[3]) == ARGV[2] then return 1 end -- done before; the answer was lost
local shadow = shadow_of(KEYS[2], ARGV[2])
if not shadow or shadow.generation ~= ARGV[3] then return SHADOW_GONE end
if shadow.is_unordered then return NO_ORDER end
call('HDEL', KEYS[2], ARGV[2])
call('HSET', KEYS[3], ARGV[3], ARGV[2])
return 1
