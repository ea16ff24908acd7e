-- Removes a board with all its generations but snapshots. From now on, its events become dead
-- letters. Results that are still in the outbox will be published. May be repeated.
--
-- KEYS  those of roles.lua, live, promotions, removed, leaders
-- ARGV  those of roles.lua
--       unregisters  only undo the registration of a board that is not live yet (1, 0)
-- Returns  time in us of the removal, later than any promotion; 0 for no such board; LEASE_LOST
-- Cost  O(1); memory is freed in the background
--
-- Undoing a registration works even if the memory of Redis is full, because its first write
-- deletes.

-- include shard.lua
-- include roles.lua

if not holds_lease(lease, token) then return LEASE_LOST end

local undoes = unregisters == '1'
local generation = call('HGET', live, board)
if undoes and generation ~= BUILDING then return 0 end
if not generation then -- removed before: the reply may have been lost
  if call('SISMEMBER', removed, board) == 0 then return 0 end
  return call('HGET', promotions, board) or 0
end

discard('shadow')
if generation ~= BUILDING then call('SADD', discarded, generation) end
discard('previous')
call('HDEL', live, board)
call('UNLINK', leaders)
if not undoes then call('SADD', removed, board) end
move_version(live)
if undoes then return format('%d', now_in_us()) end
return note_move(promotions, board)
