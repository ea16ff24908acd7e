-- A page of a view, in order.
--
-- KEYS  1 to 10 as in places.lua
-- ARGV  1 to 8 as in places.lua, 9 first position (from 0), 10 number of players
-- Returns  the places: see places.lua; the event clock alone if the view has expired; { 'MOVED', ... }: see read.lua
-- Cost  O(log players + page), a tie of k players at either end O(log k log players); a dense position: see ties.lua

-- include places.lua

return moved() or expired_by() or places(tonumber(ARGV[9]), tonumber(ARGV[10]))
