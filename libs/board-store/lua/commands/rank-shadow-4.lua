-- Ranks some players of a build. May be repeated, and begun again at any time.
--
--   begin-shadow           first call           last call
--   ------------> unranked ----------> ranking ----------> build
--
-- The purpose of such a shadow names the state of the build. Unranked: calls store no rankings,
-- which saves half of their work. Ranking: they rank the players that they change, and this script
-- ranks all other players. So each member of a ranking fits the stored state of its player. Build:
-- all are ranked. Banned players are not ranked; the states of erased ones are deleted. A player
-- record that comes later has to be settled (settle.lua).
--
-- KEYS  lease, shadows, shadow_views, shadow_bans
--       rankings_and_players...  for each view to rank: ranking, players
-- ARGV  token, board
--       generation      of the shadow
--       state           that the build enters or stays in (ranking, build)
--       server          replication id of the server on which ranking began ('' begins it)
--       players_cursor  in the first view ('0' begins it)
--       views_cursor    in the views, to find more of them ('0' begins, '' finds none)
--       column_count
--       tie_sign        1 earliest, -1 latest, 0 none
-- Returns  { replication id, cursor in the first view that is not done ('0' begins it), number of
--          players read, number of views that are done, cursor in the views, found views and
--          their versions in turn }; LEASE_LOST, SHADOW_GONE, SERVER_CHANGED
-- Cost  O(log players) for each of about 1,000 players; O(1) for each of about 1,000 found views

-- include ban-register.lua
-- include continuity.lua
-- include lease.lua
-- include member.lua
-- include state.lua

local PLAYERS_A_STEP = 1000
local VIEWS_A_SCAN = 1000
local STATES_OF_A_BUILD = { unranked = true, ranking = true, build = true }
local columns = tonumber(column_count)
local tie = tonumber(tie_sign)
local has_bans = call('EXISTS', shadow_bans) == 1

-- Sorts scanned players by kind. Returns score and member of each present player, for ZADD, and
-- members and ids of the erased ones. An erased player may have a member from an earlier ranking.
-- It is removed here, because settling finds a member only by the state, which is deleted here.
local function sort_out(words)
  local entries = {}
  if has_bans then
    local ids = {}
    for i = 1, #words, 2 do ids[#ids + 1] = words[i] end
    load_entries(shadow_bans, ids, entries)
  end

  local added = {}
  local erased_members = {}
  local erased_players = {}
  for i = 1, #words, 2 do
    local player = words[i]
    local kind = kind_of(entries[player])
    if kind ~= BANNED then
      local state = read_state(words[i + 1], columns)
      local member = member_of(tie, state, player)
      if kind == UNBANNED then
        added[#added + 1] = format('%d', state[1])
        added[#added + 1] = member
      elseif kind == ERASED then
        erased_members[#erased_members + 1] = member
        erased_players[#erased_players + 1] = player
      end
    end
  end
  return added, erased_members, erased_players
end

-- Ranks about `count` players of a view from the cursor on. Returns the next cursor, and how many
-- players it has read, banned and erased ones included.
local function rank_players(ranking, players, cursor, count)
  local next_cursor, words = unpack(call('HSCAN', players, cursor, 'COUNT', count))
  local added, erased_members, erased_players = sort_out(words)
  call_in_chunks('ZADD', ranking, added)
  call_in_chunks('ZREM', ranking, erased_members)
  call_in_chunks('HDEL', players, erased_players)
  return next_cursor, #words / 2
end

if not holds_lease(lease, token) then return LEASE_LOST end
local shadow = shadow_of(shadows, board)
if not shadow or shadow.generation ~= generation then return SHADOW_GONE end
if not STATES_OF_A_BUILD[shadow.purpose] then return SHADOW_GONE end
local present_server = replication_id()
if server ~= '' and server ~= present_server then return SERVER_CHANGED end

if shadow.purpose ~= state then call('HSET', shadows, board, generation .. ' ' .. state) end

local found = { '', {} }
if views_cursor ~= '' then
  found = call('HSCAN', shadow_views, views_cursor, 'COUNT', VIEWS_A_SCAN)
end

local cursor = players_cursor
local players_read = 0
local views_done = 0
for key = rankings_and_players_from, #KEYS, 2 do
  local count
  local room = PLAYERS_A_STEP - players_read
  cursor, count = rank_players(KEYS[key], KEYS[key + 1], cursor, room)
  players_read = players_read + count
  if cursor ~= '0' then break end -- this view is not done

  views_done = views_done + 1 -- the next view begins at cursor '0'
  if players_read >= PLAYERS_A_STEP then break end
end
return { present_server, cursor, players_read, views_done, found[1], found[2] }
