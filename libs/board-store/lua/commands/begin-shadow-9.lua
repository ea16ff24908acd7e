-- Begins a shadow. Moves an earlier one to discarded or, of a rollback, previous. May be repeated.
--
-- KEYS  1 to 5 as in roles.lua, 6 definitions, 7 starts, 8 origins, 9 applied offsets of the shadow
-- ARGV  1 token, 2 board, 3 generation, 4 purpose, 5 definition (JSON), 6 starts (JSON, '' for the
--       whole log), 7 origin (JSON), then for each partition that begins later: number, offset
--       before its start
-- Returns  1; LEASE_LOST
-- Cost  O(partitions)

-- include roles.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if shadow and shadow.generation == ARGV[3] then return 1 end -- begun before; the reply was lost
discard('shadow')
call('HSET', KEYS[2], ARGV[2], ARGV[3] .. ' ' .. ARGV[4])
call('HSET', KEYS[6], ARGV[3], ARGV[5])
if ARGV[6] ~= '' then call('HSET', KEYS[7], ARGV[3], ARGV[6]) end
call('HSET', KEYS[8], ARGV[3], ARGV[7])
for i = 8, #ARGV, 2 do call('HSET', KEYS[9], ARGV[i], ARGV[i + 1]) end
return 1
