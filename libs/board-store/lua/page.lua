-- A page of a view, in order.
--
-- KEYS  1 to 8 as in read.lua, 9 and 10 as in places.lua
-- ARGV  1 to 3 as in read.lua, 4 to 8 as in places.lua, 9 first position (from 0), 10 number of players
-- Returns  what places.lua gives; the event clock alone when the view has expired; { 'MOVED', ... }: see read.lua
-- Cost  O(log players + page), a tie of k players at either end O(log k log players); a dense position: see places.lua

-- include names.lua
-- include continuity.lua
-- include ties.lua
-- include read.lua
-- include places.lua

return moved() or expired_by() or places(tonumber(ARGV[9]), tonumber(ARGV[10]))
