-- A step of a verify: brings the shadow to the live applied offsets and, once it is there, compares
-- a part of it with the live generation.
--
-- KEYS  those of catch-up.lua, live, shadow_views, shadow_expiries, shadow_facts, shadow_bans,
--       live_views, live_expiries, live_facts, live_bans
--       shadow_items, live_items  event ids in the walk eventIds, ban registers in the walks bans
--                                 and extraBans, players in the others
--       live_ranking, stretch_keys...
-- ARGV  those of catch-up.lua
--       believed_live      live generation that the caller believes in
--       server             replication id of the server where the comparison began ('' begins one)
--       walk               its name: compare-bans.lua, compare-views.lua, compare-players.lua
--       cursor             '0' begins the walk
--       view_or_partition  that the walk is over; '' for a walk over the whole board
--       column_count
--       tie_sign           1 earliest, -1 latest, 0 none
--       span               of event ids, in ms (- none)
--       stretches...
-- Returns  progress_in(the partitions with a live applied offset) and, when caught up: replication
--          id of the server, number of events refused with TOO_MANY_VIEWS by the shadow, and by the
--          live generation, cursor for the next step ('0' ends the walk), number of players or
--          event ids compared, number of views to compare player by player, these views, then for
--          each difference: kind, view, player id, expected, found ('' for none);
--          GENERATION_CHANGED, LEASE_LOST, SHADOW_GONE, SERVER_CHANGED, GAP
-- Cost  as apply-7.lua, without ranks; reads about 500 players, or 300 views or event ids, and all
--       items of a small hash or set that Redis packs
--
-- A walk compares all items of one kind, some in each step. Its cursor is where the next step
-- begins, on this server only: on another server, or after a restart, a scan could miss items.

-- include shard.lua
-- include catch-up.lua

-- The walks by name: functions of a cursor and the event clock of the shadow. Each returns the next
-- cursor, the number of players or event ids compared, and the views to compare player by player.
local walks = {}
local differences = {}

-- Players whose records the live generation has marked, but not settled (settle.lua).
local unsettled

local function append(list, words)
  for _, word in ipairs(words) do list[#list + 1] = word end
end

local function differ(kind, view, player, expected, found)
  append(differences, { kind, view, player, expected or '', found or '' })
end

-- Calls a command on a key, with the names in chunks. Returns the value of each name.
local function each_of(command, key, names)
  local found = {}
  for first, last in chunks(names) do
    local values = call(command, key, unpack(names, first, last))
    for i, value in ipairs(values) do found[first + i - 1] = value end
  end
  return found
end

-- Returns some fields and their values, or members and scores, as two lists; and the next cursor.
local function scan(command, key, cursor, step)
  local reply = call(command, key, cursor, 'COUNT', step)
  local names = {}
  local values = {}
  for i = 1, #reply[2], 2 do
    names[#names + 1] = reply[2][i]
    values[#values + 1] = reply[2][i + 1]
  end
  return names, values, reply[1]
end

-- include compare-bans.lua
-- include compare-views.lua
-- include compare-players.lua

local function compare_some(reply)
  unsettled = unsettled_players(live_facts)
  local expected = call('HMGET', shadow_facts, 'clock', 'tooManyViews')
  local found = call('HMGET', live_facts, 'clock', 'tooManyViews')
  if expected[1] ~= found[1] then differ('clock', '', '', expected[1], found[1]) end
  local next, compared, views = walks[walk](cursor, tonumber(expected[1]))
  append(reply, { replication_id(), expected[2] or '0', found[2] or '0', next, compared, #views })
  append(reply, views)
  append(reply, differences)
end

if server ~= '' and replication_id() ~= server then return SERVER_CHANGED end
if call('HGET', live, board) ~= believed_live then return GENERATION_CHANGED end
local _, refused = catch_up()
if refused then return refused end
local reply, is_caught_up = progress_in(call('HKEYS', applied_offsets))
if is_caught_up then compare_some(reply) end
return reply
