-- Makes the previous generation of a board its shadow, so that it is brought to the live watermarks. Another shadow is let go.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded
-- ARGV  1 token, 2 board
-- Returns  1; 0 when there is no previous generation; -5 LEASE_LOST; then nothing was written
-- Cost  O(1)

-- include names.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if shadow and shadow.purpose == 'restore' then return 1 end
local previous = call('HGET', KEYS[3], ARGV[2])
if not previous then return 0 end
let_go(KEYS[2], KEYS[3], KEYS[4], ARGV[2])
local generation, kept_until = string.match(previous, '^(%S+) (%d+)$')
call('HDEL', KEYS[3], ARGV[2])
call('HSET', KEYS[2], ARGV[2], generation .. ' restore ' .. kept_until)
return 1
