-- The place of one player in one view, as a page of one.
--
-- KEYS  1 to 6 as in places.lua
-- ARGV  1 to 5 as in places.lua, 6 player id, 7 tie (1 earliest, -1 latest, 0 none)
-- Returns  what places.lua gives, without a player when this one is not in the view; the event clock alone when the view has expired
-- Cost  O(log players), a tie of k players O(log k log players); a dense position: see places.lua

-- include names.lua
-- include state.lua
-- include continuity.lua
-- include rank.lua
-- include places.lua

local clock = expired_by()
if clock then return clock end
local text = call('HGET', KEYS[4], ARGV[6])
local state = text and parse_state(text, tonumber(ARGV[3]))
local position = state and call('ZRANK', KEYS[3], member_of(tonumber(ARGV[7]), state, ARGV[6]))
if not position then return places(0, 0) end
return places(position, 1)
