-- Begins a generation beside the live one, without order: see order.lua. Another shadow of the board is let go. May be repeated.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded, 5 definitions, 6 starts, 7 origins, 8 watermarks of the new generation
-- ARGV  1 token, 2 board, 3 generation, 4 purpose, 5 definition (JSON), 6 starts (JSON, '' for the whole log), 7 origin (JSON),
--       then partition, last offset that is left out, ...
-- Returns  1; -5 LEASE_LOST, nothing was written
-- Cost  O(partitions)

-- include names.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if shadow and shadow.generation == ARGV[3] then return 1 end -- done before; the answer was lost
let_go(KEYS[2], KEYS[3], KEYS[4], ARGV[2])
call('HSET', KEYS[2], ARGV[2], table.concat({ ARGV[3], ARGV[4], UNORDERED }, ' '))
call('HSET', KEYS[5], ARGV[3], ARGV[5])
if ARGV[6] ~= '' then call('HSET', KEYS[6], ARGV[3], ARGV[6]) end
call('HSET', KEYS[7], ARGV[3], ARGV[7])
for i = 8, #ARGV, 2 do call('HSET', KEYS[8], ARGV[i], ARGV[i + 1]) end
return 1
