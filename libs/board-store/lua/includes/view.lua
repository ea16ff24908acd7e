-- The effect of a run or stretch on one view, in these fields:
--   known        the stored version, false if the board lacks the view
--   version      the version that the view gets if the run changes it
--   live         rank changes are published: each event updates the ranking, else only the run's end
--   to_read      players whose states are loaded; some may be repeated
--   states       player -> state during the run, false if there is none
--   next         the state that the current event makes, nil if it stays the same
--   cause        offset of the last event that changed the view
--   moved        players whose state changed, in order; their states are stored at the end of the run
--   old_members  for each of them, the member before the run, false if there was none
--   members      player -> member in the ranking, false if there is none; only of players in `moved`

-- include base.lua
-- include merge.lua
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

-- To read a state twice costs less than to look for repeated players.
local function request_states(views, player)
  for i = 1, #views do
    local players = views[i].to_read
    players[#players + 1] = player
  end
end

local function load_states(view)
  local players, states, columns = view.to_read, view.states, #view.board.updates
  for first, last in chunks(players) do
    local found = call('HMGET', view.players, unpack(players, first, last))
    for i, bytes in ipairs(found) do
      states[players[first + i - 1]] = bytes and read_state(bytes, columns)
    end
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

-- Updates the ranking and writes the change.
local function publish_move(view, entry, old, state)
  local board, player = view.board, entry[PLAYER]
  local old_member, member = view.members[player], member_of(board.tie, state, player)
  local before, better_before = positions(view, old, old_member)
  update_ranking(view.ranking, old_member, state[1], member)
  view.members[player] = member
  local after, better_after = positions(view, state, member)
  if board.changes == 'moved' and before == after and better_before == better_after then return end
  if not view.has_head then write_head(view) end
  write_change(view, entry, before, after, old or state, state)
  if board.competition then write(pack('>dd', better_before + 1, better_after + 1)) end
  if board.overtook > 0 then write(passed(view, before, after)) end
end

-- Gives the player of an entry a new state.
local function move_player(view, entry, state)
  local player, states, members = entry[PLAYER], view.states, view.members
  local old = states[player]
  if not view.cause then store_version(view) end -- the first event of the run
  view.cause = entry[OFFSET]
  states[player] = state
  if members[player] == nil then
    local board, moved = view.board, #view.moved + 1
    local member = old and not board.unranked and member_of(board.tie, old, player)
    view.moved[moved], view.old_members[moved], members[player] = player, member, member
  end
  if view.live then publish_move(view, entry, old, state) end
end

local function store_view(view)
  local states, layout, words = view.states, STATE_LAYOUTS[#view.board.updates], {}
  for i, player in ipairs(view.moved) do
    words[2 * i - 1], words[2 * i] = player, pack(layout, unpack(states[player]))
  end
  call_in_chunks('HSET', view.players, words)
  if not view.board.unranked then store_ranking(view) end
end
