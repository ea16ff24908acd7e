-- Places of some players in one view.
--
-- KEYS  1 to 10 as in places.lua
-- ARGV  1 to 8 as in places.lua, 9 tie (1 earliest, -1 latest, 0 none), then at most 1,000 ids
-- Returns  lines and states (players.lua); the event clock if the view expired; { 'MOVED', ... }
-- Cost  O(log players) per player; with further columns and a tie of k in the first, times log k

-- include players.lua

local refused = moved() or expired_by()
if refused then return refused end
local ids = { unpack(ARGV, 10) }
return lines(places_of(ids, call('HMGET', KEYS[10], unpack(ids))))
