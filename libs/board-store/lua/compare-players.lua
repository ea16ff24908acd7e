-- A step of a comparison: brings the shadow to the live watermarks and, if it is there, compares some players of one view.
--
-- KEYS  1 to 6 as in catch-up.lua; of the shadow: 7 players; of the live generation: 8 players, 9 ranking; then the runs
-- ARGV  1 to 6 as in catch-up.lua, 7 live generation as the caller believes it, 8 replication id of the server that the comparison began
--       on, 9 walk: shadow (who should be there: state, member and score), live (who is there and should not), ranking (members
--       without a state that they follow from), 10 cursor, 11 number of columns, 12 tie (1 earliest, -1 latest, 0 none), then the
--       stretches
-- Returns  { caught up (1, 0), number of partitions, partition, watermark of the shadow, live watermark, ..., and when caught up:
--          next cursor, number of players that were looked at, then for each difference: kind, player id, state expected, found };
--          -1 GENERATION_CHANGED, -5 LEASE_LOST, -6 SHADOW_GONE, -10 SERVER_CHANGED, -12 GAP; then nothing
--          was written
-- Cost  as apply.lua, without ranks, and about STEP players; more where Redis packs a small view into one piece

-- include names.lua
-- include clock.lua
-- include chunks.lua
-- include state.lua
-- include rank.lua
-- include verdict.lua
-- include arguments.lua
-- include event-ids.lua
-- include board.lua
-- include event.lua
-- include run.lua
-- include lease.lua
-- include catch-up.lua
-- include continuity.lua
-- include cursor.lua

local STEP = 500
local columns, tie = tonumber(ARGV[11]), tonumber(ARGV[12])
local id_from = 8 * (columns - 1) + (tie == 0 and 0 or 7) + 1

local function differ(found, kind, player, expected, text)
  for _, word in ipairs({ kind, player, expected or '', text or '' }) do found[#found + 1] = word end
end

local function values_of(key, players)
  local values = {}
  for first, last in chunks(players) do
    for i, value in ipairs(call('HMGET', key, unpack(players, first, last))) do values[first + i - 1] = value end
  end
  return values
end

-- Which part of a state is another one.
local function kind_of(expected, text)
  local state, other = parse_state(expected, columns), parse_state(text, columns)
  if not other then return 'columns' end
  for i = 1, #state, 3 do
    if state[i] ~= other[i] or state[i + 2] ~= other[i + 2] then return 'columns' end
  end
  return 'reachTime'
end

local function has_place(state, player)
  return tonumber(call('ZSCORE', KEYS[9], member_of(tie, state, player))) == state[1]
end

-- Players and values of a hash, as two lists.
local function pairs_of(list)
  local players, values = {}, {}
  for i = 1, #list, 2 do
    players[#players + 1] = list[i]
    values[#values + 1] = list[i + 1]
  end
  return players, values
end

-- Each answers the next cursor, and how many players were looked at.
local walks = {}

walks['shadow'] = function(found)
  local scan = call('HSCAN', KEYS[7], ARGV[10], 'COUNT', STEP)
  local players, expected = pairs_of(scan[2])
  local live = values_of(KEYS[8], players)
  for i, player in ipairs(players) do
    if not live[i] then
      differ(found, 'missing', player, expected[i])
    elseif live[i] ~= expected[i] then
      differ(found, kind_of(expected[i], live[i]), player, expected[i], live[i])
    elseif not has_place(parse_state(expected[i], columns), player) then
      differ(found, 'order', player, expected[i], live[i])
    end
  end
  return scan[1], #players
end

walks['live'] = function(found)
  local scan = call('HSCAN', KEYS[8], ARGV[10], 'COUNT', STEP)
  local players, live = pairs_of(scan[2])
  local expected = values_of(KEYS[7], players)
  for i, player in ipairs(players) do
    if not expected[i] then differ(found, 'extra', player, nil, live[i]) end
  end
  return scan[1], #players
end

walks['ranking'] = function(found)
  local scan = call('ZSCAN', KEYS[9], ARGV[10], 'COUNT', STEP)
  local members, scores = pairs_of(scan[2])
  local players = {}
  for i, member in ipairs(members) do players[i] = sub(member, id_from) end
  local live = values_of(KEYS[8], players)
  for i, player in ipairs(players) do
    local state = live[i] and parse_state(live[i], columns)
    if not state or member_of(tie, state, player) ~= members[i] or tonumber(scores[i]) ~= state[1] then
      differ(found, 'order', player, call('HGET', KEYS[7], player) or nil, live[i] or nil)
    end
  end
  return scan[1], #members
end

if is_elsewhere(ARGV[8]) then return SERVER_CHANGED end
if call('HGET', KEYS[3], ARGV[2]) ~= ARGV[7] then return GENERATION_CHANGED end
local _, refused = catch_up()
if refused then return refused end
local found, is_caught_up = watermarks_of(call('HKEYS', KEYS[4]))
if is_caught_up then
  local differences = {}
  local cursor, players = walks[ARGV[9]](differences)
  found[#found + 1] = cursor
  found[#found + 1] = players
  for _, word in ipairs(differences) do found[#found + 1] = word end
end
return found
