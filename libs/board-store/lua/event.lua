-- What one event does to the views of its board. In a view:
--   states  player -> state as the call goes on, false for none; read for all events before the first write
--   placed  player -> member in the ranking, false for none; of the players that this call has moved
--   movers  these players, in order; their states are stored at the end
--   told    whether places are asked for, so that the ranking has to keep up with every event; else it is stored at the end

local function load_view(view, now, told)
  local board = view.board
  view.known = call('HGET', board.versions, view.text)
  local before = tonumber(view.known or '0')
  view.version = format('%d', math.max(before + 1, board.floor + 1, now))
  view.head = view.text .. '\t' .. view.version .. '\t'
  view.told = told and view.published and board.changes ~= 'n'
end

-- Notes the players whose states have to be read.
local function want_states(entry)
  local player = entry.player
  for i = 1, #entry.views do
    local view = entry.views[i]
    if view.states[player] == nil then
      view.states[player] = false
      view.wanted[#view.wanted + 1] = player
    end
  end
end

local function load_states(view)
  for first, last in chunks(view.wanted) do
    local texts = call('HMGET', view.players, unpack(view.wanted, first, last))
    for i, text in ipairs(texts) do
      view.states[view.wanted[first + i - 1]] = text and parse_state(text, #view.board.updates)
    end
  end
end

-- The views of the event that have not expired.
local function standing_views(entry)
  if not entry.board.keeps then return entry.views end
  local standing = {}
  for _, view in ipairs(entry.views) do
    if not has_expired(view) then standing[#standing + 1] = view end
  end
  return standing
end

local function too_many_views(board, views)
  local new = 0
  for i = 1, #views do
    if not views[i].known then new = new + 1 end
  end
  return new > 0 and views_of(board) + new > board.most_views and new
end

-- Finds the next state in each view, nil where it stays. Answers whether one changes, and whether a sum would leave the exact range.
local function find_next_states(entry, views)
  local changes, player = false, entry.player
  for i = 1, #views do
    local view = views[i]
    local state, overflow = merge(entry.board.updates, view.states[player], entry.values, entry.time)
    if overflow then return false, true end
    view.next = state
    changes = changes or state ~= nil
  end
  return changes, false
end

-- The first event of the call that moves the view.
local function begin_moves(view)
  local board = view.board
  if not view.known and view.expires then call('ZADD', board.expiries, format('%d', view.expires), view.text) end
  call('HSET', board.versions, view.text, view.version)
  view.known = view.version
  board.version = math.max(board.version, tonumber(view.version))
  board.moved[#board.moved + 1] = view
end

local function place(view, player, state)
  local old, member = view.placed[player], member_of(view.board.tie, state, player)
  if old and old ~= member then call('ZREM', view.ranking, old) end
  call('ZADD', view.ranking, format('%d', state[1]), member)
  view.placed[player] = member
end

-- Moves the player in one view; answers the change when it is to be published. Boards that publish no competition rank ignore its moves.
local function move(view, entry)
  local player, board, state = entry.player, view.board, view.next
  local old = view.states[player]
  if not view.cause then begin_moves(view) end
  view.cause = entry.text
  view.states[player] = state
  if view.placed[player] == nil then
    view.placed[player] = old and member_of(board.tie, old, player)
    view.movers[#view.movers + 1] = player
  end
  if not view.told then return nil end
  local before, better_before
  if old then before, better_before = positions(board, view.ranking, old[1], view.placed[player]) end
  place(view, player, state)
  local after, better_after = positions(board, view.ranking, state[1], view.placed[player])
  if board.changes == 'm' and before == after and better_before == better_after then return nil end
  return view.head .. (before and placing(before, better_before, old) or '-')
    .. '\t' .. placing(after, better_after, state) .. (board.overtook > 0 and passed(view, before, after) or '')
end

-- Writes the verdict when there is something to tell. The order of the checks is part of what a board is.
local function apply_event(entry)
  local board = entry.board
  tick(board, entry.time)
  if board.span and is_duplicate(entry) then return end
  local views = standing_views(entry)
  if #views < #entry.views then
    board.expired = board.expired + 1
    if #views == 0 then
      if board.refuse_late then write_dead_letter(entry, 'WINDOW_EXPIRED', 'all views of ' .. board.name .. ' that the event belongs to have expired') end
      return
    end
  end
  local new = too_many_views(board, views)
  if new then
    board.refused = board.refused + 1
    return write_dead_letter(entry, 'TOO_MANY_VIEWS', format('%s has its most views (maxViews: %d), and the event would make %d more', board.name, board.most_views, new))
  end
  local changes, overflow = find_next_states(entry, views)
  if overflow then return write_dead_letter(entry, 'SUM_OUT_OF_RANGE', 'a sum of ' .. board.name .. ' would leave +-(2^53-1) minor units') end
  if not changes then return end
  local told = false
  for i = 1, #views do
    local view = views[i]
    local change = view.next and move(view, entry)
    if change then
      if told then write('\n') else begin_verdict(entry.text, board.head) end
      write(change)
      told = true
    end
  end
end

-- Moves each player once in the ranking, however many events moved the player during the call.
local function store_order(view)
  local removed, added = {}, {}
  for i, player in ipairs(view.movers) do
    local state = view.states[player]
    local old, member = view.placed[player], member_of(view.board.tie, state, player)
    if old and old ~= member then removed[#removed + 1] = old end
    added[2 * i - 1], added[2 * i] = format('%d', state[1]), member
  end
  call_in_chunks('ZREM', view.ranking, removed)
  call_in_chunks('ZADD', view.ranking, added)
end

-- Stores the states of the players that moved, and their places in the ranking, if the generation keeps rankings.
local function store_view(view)
  local states, board = {}, view.board
  for i, player in ipairs(view.movers) do
    states[2 * i - 1], states[2 * i] = player, state_text(view.states[player])
  end
  call_in_chunks('HSET', view.players, states)
  if not view.told and not board.unranked then store_order(view) end
end
