-- One step of a search for players of a view by a part of their ids.
--
-- KEYS  those of players.lua
-- ARGV  those of players.lua
--       cursor   to go on from ('0' begins)
--       pattern  of Redis, for ids
-- Returns  lines: replication id of the server, on which the cursor is valid, next cursor ('0' at
--          the end), places_of (players.lua); the event clock if the view expired; { 'MOVED',
--          ... } (read.lua)
-- Cost  reads STEP players of the view; as players-10.lua for the players found

-- include players.lua

local STEP = 1000

local refused = moved() or expired_by()
if refused then return refused end
local scan = call('HSCAN', players, cursor, 'MATCH', pattern, 'COUNT', STEP)
local ids = {}
local states = {}
for i = 1, #scan[2], 2 do
  ids[#ids + 1] = scan[2][i]
  states[#states + 1] = scan[2][i + 1]
end
local found, found_states = places_of(ids, states)
table.insert(found, 1, scan[1])
table.insert(found, 1, replication_id())
return lines(found, found_states)
