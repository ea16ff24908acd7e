-- Gives up a shadow that somebody has left behind: its board has no lease. All is as it was before it.
-- May be repeated.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded
-- ARGV  1 board, 2 generation
-- Returns  1; 0 when it is not the shadow of the board, nor a generation whose memory is still to be given back; -11 LEASE_HELD:
--          somebody works on it; then nothing was written
-- Cost  O(1)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua
-- include lease.lua

local LEASE_HELD = -11

local shadow = shadow_of(KEYS[2], ARGV[1])
if not shadow or shadow.generation ~= ARGV[2] then return call('SISMEMBER', KEYS[4], ARGV[2]) end -- done before: the answer may have been lost
if call('EXISTS', KEYS[1]) == 1 then return LEASE_HELD end
let_go(KEYS[2], KEYS[3], KEYS[4], ARGV[1])
return 1
