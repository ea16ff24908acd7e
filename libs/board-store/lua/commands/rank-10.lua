-- The place of one player in one view, as a page with this player only.
--
-- KEYS  1 to 10 as in places.lua
-- ARGV  1 to 8 as in places.lua, 9 player id, 10 tie (1 earliest, -1 latest, 0 none)
-- Returns  as page-10.lua; a page without players if the player is not in the view
-- Cost  O(log players), a tie of k players O(log k log players); dense: ties.lua

-- include state.lua
-- include rank.lua
-- include places.lua

local refused = moved() or expired_by()
if refused then return refused end
local text = call('HGET', KEYS[10], ARGV[9])
local state = text and parse_state(text, tonumber(ARGV[6]))
local position = state and call('ZRANK', KEYS[9], member_of(tonumber(ARGV[10]), state, ARGV[9]))
if not position then return places(0, 0) end
return places(position, 1)
