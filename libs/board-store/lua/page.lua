-- A page of a view, in order.
--
-- KEYS  1 to 8 as in places.lua
-- ARGV  1 to 6 as in places.lua, 7 first position (from 0), 8 number of players
-- Returns  what places.lua gives; the event clock alone when the view has expired;
--          -8 GENERATION_GONE
-- Cost  O(log players + page), a tie of k players at either end O(log k log players); a dense position: see places.lua

-- include names.lua
-- include kept.lua
-- include clock.lua
-- include continuity.lua
-- include rank.lua
-- include ties.lua
-- include places.lua

if is_gone() then return GENERATION_GONE end
return expired_by() or places(tonumber(ARGV[7]), tonumber(ARGV[8]))
