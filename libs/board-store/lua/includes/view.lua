-- The effect of a run or stretch on one view, in these fields:
--   known        the stored version, false if the board lacks the view
--   version      the version that the view gets if the run changes it
--   live         whether rank changes are published. If so, each event updates the ranking; if
--                not, only the end of the run does
--   to_read      players whose states are loaded; some may be repeated
--   states       player -> bytes of the state during the run, false if there is none
--   move         the move of the current event (move.lua), false if the event changes nothing
--   own_move     a table that each event reuses for its move
--   cause        offset of the last event that changed the view
--   left         whether a player who is banned or erased has left the ranking
-- Fields for the players whose state changed, in the order of their first change:
--   stored       player and bytes of the state, for HSET
--   stored_at    player -> position of the bytes in `stored`
--   added        score and member, for ZADD; only in a ranked board
--   old_members  member before the run, false if there was none; only in a ranked board

-- include base.lua
-- include move.lua
-- include rank.lua
-- include verdict.lua

local function load_view(view, now, unmuted)
  local board = view.board
  view.known = call('HGET', board.versions, view.text)
  local before = tonumber(view.known or '0')
  if not view.known then board.has_new_views = true end
  if view.expires then board.first_expiry = math.min(board.first_expiry, view.expires) end
  view.version = format('%d', math.max(before + 1, board.floor + 1, now))
  view.live = unmuted and view.published and board.changes ~= 'none'
end

-- Reading a state twice costs less than looking for repeated players.
local function request_states(views, player)
  for i = 1, #views do
    local players = views[i].to_read
    players[#players + 1] = player
  end
end

local function load_states(view)
  local players = view.to_read
  local states = view.states
  for first, last in chunks(players) do
    local found = call('HMGET', view.players, unpack(players, first, last))
    for i, bytes in ipairs(found) do states[players[first + i - 1]] = bytes end
  end
end

local function store_version(view)
  local board = view.board
  if not view.known and view.expires then
    call('ZADD', board.expiries, format('%d', view.expires), view.text)
  end
  call('HSET', board.versions, view.text, view.version)
  view.known = view.version
  board.version = math.max(board.version, tonumber(view.version))
  board.moved[#board.moved + 1] = view
end

-- Notes that an entry changes the view. The first change in a run gives the view its new version.
local function touch(view, entry)
  if not view.cause then store_version(view) end
  view.cause = entry[OFFSET]
end

-- Creates those views that the board lacks, for an event that leaves no state in them. So every
-- event within `maxViews` creates its views, even if a sum overflows or the player is erased.
local function make_views(views, entry)
  for i = 1, #views do
    if not views[i].known then touch(views[i], entry) end
  end
end

local function publish_move(view, entry, move)
  local board = view.board
  local old = move.old
  local state = move.state
  local before, better_before = positions(view, old, move.old_member)
  update_ranking(view.ranking, move)
  local after, better_after = positions(view, state, move.member)
  if board.changes == 'moved' and before == after and better_before == better_after then return end
  write_movement(view, entry, old or state, state, before, after, better_before, better_after)
  if board.overtook > 0 then write(passed(view, before, after)) end
end

-- Applies view.move to the player of an entry.
local function move_player(view, entry)
  local player = entry[PLAYER]
  local move = view.move
  local stored = view.stored
  touch(view, entry)
  view.states[player] = move.bytes
  local at = view.stored_at[player]
  if not at then
    at = #stored + 2
    view.stored_at[player] = at
    stored[at - 1] = player
    view.old_members[at / 2] = move.old_member
  end
  stored[at] = move.bytes
  if view.board.unranked then return end

  view.added[at - 1] = move.score
  view.added[at] = move.member
  if view.live then publish_move(view, entry, move) end
end
