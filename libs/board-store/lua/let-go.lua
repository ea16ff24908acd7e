-- Gives up a shadow: all is as it was before it.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded
-- ARGV  1 token, 2 board, 3 generation
-- Returns  1; 0 when it is not the shadow of the board; -5 LEASE_LOST; then nothing was written
-- Cost  O(1)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if not shadow or shadow.generation ~= ARGV[3] then return 0 end
let_go(KEYS[2], KEYS[3], KEYS[4], ARGV[2])
return 1
