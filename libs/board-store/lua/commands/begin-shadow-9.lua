-- Begins a shadow. An earlier shadow of the board is discarded; if it is of a rollback, it becomes
-- previous again. May be repeated.
--
-- KEYS  those of roles.lua, definitions, starts, origins, shadow_applied_offsets
-- ARGV  those of roles.lua, generation, purpose
--       definition          JSON
--       start_offsets       JSON; '' for the whole log
--       origin              JSON
--       initial_offsets...  for each partition that the generation reads from a start: its number,
--                           the offset before the start
-- Returns  1; LEASE_LOST
-- Cost  O(partitions)

-- include roles.lua

if not holds_lease(lease, token) then return LEASE_LOST end
local shadow = shadow_of(shadows, board)
if shadow and shadow.generation == generation then return 1 end -- begun before; the reply was lost
discard('shadow')
call('HSET', shadows, board, generation .. ' ' .. purpose)
call('HSET', definitions, generation, definition)
if start_offsets ~= '' then call('HSET', starts, generation, start_offsets) end
call('HSET', origins, generation, origin)
for i = initial_offsets_from, #ARGV, 2 do
  local partition = ARGV[i]
  local applied_offset = ARGV[i + 1]
  call('HSET', shadow_applied_offsets, partition, applied_offset)
end
return 1
