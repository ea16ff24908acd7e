-- The place of one player in one view.
--
-- KEYS  1 ranking, 2 players
-- ARGV  1 player id, 2 tie (1 earliest, -1 latest, 0 none), 3 number of columns
-- Returns  { position, competition position, state }, positions from 0; nil for a player who is not in the view
-- Cost  O(log players)

-- include state.lua
-- include rank.lua

local text = redis.call('HGET', KEYS[2], ARGV[1])
if not text then return nil end
local state = parse_state(text)
local member = member_of({ tie = tonumber(ARGV[2]) }, state, ARGV[1])
local position, better = positions(KEYS[1], state[1], member, tonumber(ARGV[3]) - 1)
if not position then return nil end
return { position, better, text }
