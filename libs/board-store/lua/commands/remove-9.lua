-- Removes a board with all its generations but snapshots. From now on, its events become dead
-- letters. Results that are still in the outbox will be published. May be repeated.
--
-- KEYS  1 to 5 as in roles.lua, 6 live, 7 promotions, 8 removed, 9 leaders of the board
-- ARGV  1 token, 2 board, 3 only undo the registration of a board that is not live yet (1, 0)
-- Returns  time in us of the removal, later than any promotion; 0 for no such board; LEASE_LOST
-- Cost  O(1); memory is freed in the background
--
-- Undoing a registration works when memory is full, too: its first write deletes.

-- include shard.lua
-- include roles.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local board, undoes = ARGV[2], ARGV[3] == '1'
local live = call('HGET', KEYS[6], board)
if undoes and live ~= BUILDING then return 0 end
if not live then -- removed before: the reply may have been lost
  return call('SISMEMBER', KEYS[8], board) == 1 and call('HGET', KEYS[7], board) or 0
end
discard('shadow')
if live ~= BUILDING then call('SADD', KEYS[5], live) end
discard('previous')
call('HDEL', KEYS[6], board)
call('UNLINK', KEYS[9])
if not undoes then call('SADD', KEYS[8], board) end
move_version(KEYS[6])
return undoes and format('%d', now_in_us()) or note_move(KEYS[7], board)
