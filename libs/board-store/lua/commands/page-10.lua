-- A page of a view, in order.
--
-- KEYS  1 to 10 as in places.lua
-- ARGV  1 to 8 as in places.lua, 9 first position (from 0), 10 number of players
-- Returns  places (places.lua); the event clock if the view expired; { 'MOVED', ... } (read.lua)
-- Cost  O(log players + page), for a tie of k at either end O(log k log players); dense: ties.lua

-- include places.lua

return moved() or expired_by() or places(tonumber(ARGV[9]), tonumber(ARGV[10]))
