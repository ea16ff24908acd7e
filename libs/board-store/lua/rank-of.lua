-- The place of one player in one view, as a page of one.
--
-- KEYS  1 to 8 as in places.lua
-- ARGV  1 to 6 as in places.lua, 7 player id, 8 tie (1 earliest, -1 latest, 0 none)
-- Returns  what places.lua gives, without a player when this one is not in the view; the event clock alone when the view has expired;
--          -8 GENERATION_GONE
-- Cost  O(log players), a tie of k players O(log k log players); a dense position: see places.lua

-- include names.lua
-- include kept.lua
-- include clock.lua
-- include state.lua
-- include continuity.lua
-- include rank.lua
-- include ties.lua
-- include places.lua

if is_gone() then return GENERATION_GONE end
local clock = expired_by()
if clock then return clock end
local text = read_kept('HGET', KEYS[4], ARGV[7])
local state = text and parse_state(text, tonumber(ARGV[3]))
local position = state and read_kept('ZRANK', KEYS[3], member_of(tonumber(ARGV[8]), state, ARGV[7]))
if not position then return places(0, 0) end
return places(position, 1)
