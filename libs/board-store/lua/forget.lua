-- Makes a board unknown again that was registered, and is not live yet: all is as it was before. May be repeated.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded, 5 live
-- ARGV  1 token, 2 board
-- Returns  1; 0 when it does not wait for its first generation; -5 LEASE_LOST; then nothing was written
-- Cost  O(1)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua
-- include clock.lua
-- include pointers.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
if call('HGET', KEYS[5], ARGV[2]) ~= '-' then return 0 end
let_go(KEYS[2], KEYS[3], KEYS[4], ARGV[2])
call('HDEL', KEYS[5], ARGV[2])
move_version(KEYS[5])
return 1
