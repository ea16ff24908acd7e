-- Removes a board with all its generations but snapshots. From now on its events are unknown; what was not published yet will be.
-- May be repeated.
--
-- KEYS  1 lease, 2 shadows, 3 previous, 4 discarded, 5 live, 6 flips, 7 removed, 8 leaders of the board
-- ARGV  1 token, 2 board
-- Returns  the time of the removal in us, later than the last move of the pointer; 0 when there is no such board; -5 LEASE_LOST
-- Cost  O(reported views)

-- include names.lua
-- include clock.lua
-- include pointers.lua
-- include lease.lua

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local board = ARGV[2]
local live = call('HGET', KEYS[5], board)
if not live then -- removed before: the answer may have been lost
  return call('SISMEMBER', KEYS[7], board) == 1 and call('HGET', KEYS[6], board) or 0
end
let_go(KEYS[2], KEYS[3], KEYS[4], board)
local previous = call('HGET', KEYS[3], board)
if previous then call('SADD', KEYS[4], string.match(previous, '^%S+')) end
if live ~= '-' then call('SADD', KEYS[4], live) end
call('HDEL', KEYS[3], board)
call('HDEL', KEYS[5], board)
call('UNLINK', KEYS[8])
call('SADD', KEYS[7], board)
move_version(KEYS[5])
return moved_now(KEYS[6], board)
