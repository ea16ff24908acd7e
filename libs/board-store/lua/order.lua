-- Makes the order of a shadow that was begun without one, some players a call.
--
-- A shadow that is far from the live applied offsets is read by nobody: to keep its rankings would cost more than all else that an
-- event does there. The scripts that bring it nearer note the views that they move, and take away what there is of their rankings;
-- here they are made, each from the states of its players. When all are made, the shadow keeps its order from then on.
--
-- KEYS  1 lease, 2 shadows, 3 views without order, then for each view: ranking, players
-- ARGV  1 token, 2 board, 3 generation, 4 number of columns, 5 tie (1 earliest, -1 latest, 0 none), 6 how many players at most, about;
--       then for each view: its text, cursor to go on from ('0' begins)
-- Refused as a whole when memory is full: its first write is one that Redis refuses then.
-- Returns  { players that were put in order, then the views to go on with: text, cursor, ... }; with no views, all have their
--          order; -5 LEASE_LOST, -6 SHADOW_GONE; then nothing was written
-- Cost  O(log players) for each player; more of them where Redis packs a small view into one piece
--
-- May be repeated, and interleaved with catching up. That a scan has come to its end proves nothing when Redis has lost writes
-- meanwhile, or a replica has taken over, whose cursors are others: a ranking is made when it has as many members as there are
-- players, since it never holds one that does not follow from a state.
-- A view that is in the set no more is left alone: a call that arrives once more, after what it began was made, would begin it
-- again, and nobody would know that it is not at its end.

-- include names.lua
-- include chunks.lua
-- include state.lua
-- include rank.lua
-- include lease.lua

local STEP = 500
-- How many views are told to go on with: twice as many as this call came to the end of, within these bounds.
local LEAST_VIEWS, MOST_VIEWS = 20, 1000
-- What a view takes beside its players, in players.
local VIEW = 2

local columns, tie, most = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function add_players(view, found)
  local added = {}
  for i = 1, #found, 2 do
    local state = parse_state(found[i + 1], columns)
    added[i], added[i + 1] = format('%d', state[1]), member_of(tie, state, found[i])
  end
  call_in_chunks('ZADD', view.ranking, added)
  return #found / 2
end

-- Answers how many players were put in order, `most` at most, about. A scan that was begun in a call before may have missed some.
local function order_some(view, most)
  local players, is_begun = 0, view.cursor ~= '0'
  if not is_begun then call('UNLINK', view.ranking) end
  repeat
    local scan = call('HSCAN', view.players, view.cursor, 'COUNT', STEP)
    view.cursor = scan[1]
    players = players + add_players(view, scan[2])
  until view.cursor == '0' or players >= most
  view.is_made = view.cursor == '0' and (not is_begun or call('ZCARD', view.ranking) == call('HLEN', view.players))
  return players
end

-- Answers how many players were put in order, the views that are made, and the one that is not at its end.
local function order_all()
  local players, effort, made = 0, 0, {}
  for at = 7, #ARGV, 2 do
    local view = { text = ARGV[at], cursor = ARGV[at + 1], ranking = KEYS[at - 3], players = KEYS[at - 2] }
    if call('SISMEMBER', KEYS[3], view.text) == 1 then
      local some = order_some(view, most - effort)
      players, effort = players + some, effort + some + VIEW
      if view.is_made then made[#made + 1] = view.text end
      if view.cursor ~= '0' then return players, made, view end
    end
    if effort >= most then break end
  end
  return players, made
end

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local shadow = shadow_of(KEYS[2], ARGV[2])
if not shadow or shadow.generation ~= ARGV[3] then return SHADOW_GONE end
if not shadow.is_unordered then return { 0 } end
-- Changes nothing: once a script has written, Redis refuses it nothing more, and an UNLINK is never refused.
call('HSET', KEYS[2], ARGV[2], call('HGET', KEYS[2], ARGV[2]))
local players, made, begun = order_all()
call_in_chunks('SREM', KEYS[3], made)
local next_views = math.max(LEAST_VIEWS, math.min(MOST_VIEWS, 2 * #made))
local found = { players }
if begun then found[2], found[3] = begun.text, begun.cursor end
for _, text in ipairs(call('SRANDMEMBER', KEYS[3], next_views)) do
  if not begun or text ~= begun.text then found[#found + 1], found[#found + 2] = text, '0' end
end
if #found == 1 then call('HSET', KEYS[2], ARGV[2], shadow.generation .. ' ' .. shadow.purpose) end
return found
