-- Removes a board with all its generations but snapshots. From now on its events are unknown; what was not published yet will be.
-- May be repeated.
--
-- KEYS  1 to 5 as in roles.lua, 6 live, 7 promotions, 8 removed, 9 leaders of the board
-- ARGV  1 token, 2 board
-- Returns  the time of the removal in us, later than the last move of the pointer; 0 when there is no such board; -5 LEASE_LOST
-- Cost  O(reported views)

-- include names.lua
-- include clock.lua
-- include pointers.lua
-- include lease.lua
-- include roles.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local board = ARGV[2]
local live = call('HGET', KEYS[6], board)
if not live then -- removed before: the answer may have been lost
  return call('SISMEMBER', KEYS[8], board) == 1 and call('HGET', KEYS[7], board) or 0
end
discard('shadow')
if live ~= '-' then call('SADD', KEYS[5], live) end
discard('previous')
call('HDEL', KEYS[6], board)
call('UNLINK', KEYS[9])
call('SADD', KEYS[8], board)
move_version(KEYS[6])
return moved_now(KEYS[7], board)
