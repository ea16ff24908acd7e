-- The effect of a run or stretch on one view, in these fields:
--   states   player -> state during the run, false if there is none
--   members  player -> member in the ranking, false if there is none; only of players in `moved`
--   moved    players whose state changed, in order; their states are stored at the end of the run
--   removed  for each of them, the member before the run, false if there was none
--   live     rank changes are published: each event updates the ranking, else only the run's end

-- include base.lua
-- include merge.lua
-- include rank.lua
-- include verdict.lua

local function load_view(view, now, unmuted)
  local board = view.board
  view.known = call('HGET', board.versions, view.text)
  local before = tonumber(view.known or '0')
  view.version = format('%d', math.max(before + 1, board.floor + 1, now))
  view.live = unmuted and view.published and board.changes ~= 'none'
end

local function request_states(entry)
  local player = entry.player
  for i = 1, #entry.views do
    local view = entry.views[i]
    if view.states[player] == nil then
      view.states[player] = false
      view.to_read[#view.to_read + 1] = player
    end
  end
end

local function load_states(view)
  for first, last in chunks(view.to_read) do
    local found = call('HMGET', view.players, unpack(view.to_read, first, last))
    for i, bytes in ipairs(found) do
      view.states[view.to_read[first + i - 1]] = bytes and read_state(bytes, #view.board.updates)
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

-- Gives the player the state view.next. Writes the change if it is published.
local function move_player(view, entry)
  local player, board, state = entry.player, view.board, view.next
  local old = view.states[player]
  if not view.cause then store_version(view) end -- the first event of the run
  view.cause = entry.offset
  view.states[player] = state
  if view.members[player] == nil then
    view.members[player] = old and member_of(board.tie, old, player)
    view.moved[#view.moved + 1] = player
    view.removed[#view.removed + 1] = view.members[player]
  end
  if not view.live then return end
  local before, better_before = positions(view, old, player)
  update_ranking(view, player, state)
  local after, better_after = positions(view, state, player)
  if board.changes == 'moved' and before == after and better_before == better_after then return end
  if not view.has_head then write_head(view) end
  write_change(view, entry, before, after, old or state, state)
  if board.competition then write(pack('>dd', better_before + 1, better_after + 1)) end
  if board.overtook > 0 then write(passed(view, before, after)) end
end

local function store_view(view)
  local states = {}
  for i, player in ipairs(view.moved) do
    states[2 * i - 1], states[2 * i] = player, state_bytes(view.states[player])
  end
  call_in_chunks('HSET', view.players, states)
  if not view.board.unranked then store_ranking(view) end
end
