-- Makes a board unknown again that was registered, and is not live yet: all is as it was before. May be repeated.
--
-- KEYS  1 to 5 as in roles.lua, 6 live
-- ARGV  1 token, 2 board
-- Returns  1; 0 when it does not wait for its first generation; -5 LEASE_LOST; then nothing was written
-- Cost  O(1)
--
-- Works when memory is full, too: its first write is one that Redis does not refuse then, and after that it refuses nothing.

-- include names.lua
-- include clock.lua
-- include pointers.lua
-- include lease.lua
-- include roles.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
if call('HGET', KEYS[6], ARGV[2]) ~= '-' then return 0 end
discard('shadow')
call('HDEL', KEYS[6], ARGV[2])
move_version(KEYS[6])
return 1
