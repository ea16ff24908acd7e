-- Places of some players in one view.
--
-- KEYS  those of players.lua
-- ARGV  those of players.lua
--       ids...  at most 1,000
-- Returns  lines and states (players.lua); the event clock if the view expired; { 'MOVED', ... }
-- Cost  O(log players) per player; with further columns and a tie of k in the first, times log k

-- include players.lua

local refused = moved() or expired_by()
if refused then return refused end
local ids = { unpack(ARGV, ids_from) }
return lines(places_of(ids, call('HMGET', players, unpack(ids))))
