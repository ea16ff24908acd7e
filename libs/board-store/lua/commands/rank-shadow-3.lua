-- A step of ranking the players of a build. May be repeated, and begun again at any time.
--
--   begin-shadow              step views              step end
--   ------------> unranked --------------> ranking -----------> build
--
-- These purposes of a shadow are the states of a build. Unranked: calls store no rankings, which
-- saves half of their work. Ranking: they rank the players that they change, and the steps rank all
-- others. So a ranking never has a member that fits no state. Build: all players are ranked.
--
-- KEYS  1 lease, 2 shadows, 3 views of the shadow; step players: ranking and players of each view
-- ARGV  1 token, 2 board, 3 generation of the shadow, 4 step (views, players, end), 5 replication
--       id of the server on which ranking began ('' begins it), 6 cursor ('0' begins a scan; step
--       players: of the first view), 7 number of columns, 8 tie (1 earliest, -1 latest, 0 none)
-- Returns  { replication id, cursor for the next step ('0' for none), ... }, then of step views:
--          views to rank; of step players: number of players ranked, number of views that are done;
--          LEASE_LOST, SHADOW_GONE, SERVER_CHANGED
-- Cost  O(log players) for each of 1,000 to 2,000 players; about 1,000 views

-- include continuity.lua
-- include lease.lua
-- include member.lua
-- include state.lua

local ITEMS_A_STEP = 1000
local STATES = { unranked = true, ranking = true, build = true }
local cursor, steps = ARGV[6], {}

local function enter(purpose)
  call('HSET', KEYS[2], ARGV[2], ARGV[3] .. ' ' .. purpose)
end

-- Returns names and values in turn, and moves the cursor.
local function scan(key)
  local reply = call('HSCAN', key, cursor, 'COUNT', ITEMS_A_STEP)
  cursor = reply[1]
  return reply[2]
end

function steps.views()
  enter('ranking')
  local found, views = {}, scan(KEYS[3])
  for i = 1, #views, 2 do found[#found + 1] = views[i] end
  return found
end

-- Ranks some or all players of a view; returns how many.
local function rank_players(ranking, players)
  local words, columns, tie = scan(players), tonumber(ARGV[7]), tonumber(ARGV[8])
  for i = 1, #words, 2 do
    local state = read_state(words[i + 1], columns)
    words[i], words[i + 1] = format('%d', state[1]), member_of(tie, state, words[i])
  end
  call_in_chunks('ZADD', ranking, words)
  return #words / 2
end

function steps.players()
  local ranked, done = 0, 0
  for key = 4, #KEYS, 2 do
    ranked = ranked + rank_players(KEYS[key], KEYS[key + 1])
    if cursor ~= '0' then break end
    done = done + 1
    if ranked >= ITEMS_A_STEP then break end
  end
  return { ranked, done }
end

steps['end'] = function()
  enter('build')
  return {}
end

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if not shadow or shadow.generation ~= ARGV[3] then return SHADOW_GONE end
if not STATES[shadow.purpose] then return SHADOW_GONE end
local server = replication_id()
if ARGV[5] ~= '' and server ~= ARGV[5] then return SERVER_CHANGED end
local found = steps[ARGV[4]]()
table.insert(found, 1, cursor)
table.insert(found, 1, server)
return found
