-- What one event does to the views of its board.

-- Reads the version, and every other key that the event may write.
local function load_view(view, now, unmuted)
  view.known = redis.call('HGET', view.board.versions, view.text)
  view.version = string.format('%.0f', math.max(tonumber(view.known or '0') + 1, now))
  redis.call('ZCARD', view.ranking)
  view.reported = unmuted and view.published and view.board.leaders > 0
  if view.reported then load_report(view) end
end

local function load_states(entry)
  for _, view in ipairs(entry.views) do
    if view.states[entry.player] == nil then
      local text = redis.call('HGET', view.players, entry.player)
      local state = text and parse_state(text) or false
      if state then
        if #state ~= 3 * #view.board.updates then error('the state of a player in ' .. view.players .. ' is damaged: rebuild the board') end
        state.member = member_of(view.board, state, entry.player)
      end
      view.states[entry.player] = state
    end
  end
end

-- The views that exist, and how many of them would be new; nil when all have expired.
local function standing_views(entry)
  local standing, new = {}, 0
  for _, view in ipairs(entry.views) do
    if not has_expired(view) then
      standing[#standing + 1] = view
      if not view.known then new = new + 1 end
    end
  end
  if #standing < #entry.views then entry.board.expired = entry.board.expired + 1 end
  if #standing == 0 and #entry.views > 0 then return nil end
  return standing, new
end

-- The next state in each view, false where it stays; nil when nothing changes; nil and true when a sum would leave the exact range.
local function next_states(entry, views)
  local states, changed = {}, false
  for i, view in ipairs(views) do
    local state, overflow = merge(view.board.updates, view.states[entry.player], entry.values, entry.time)
    if overflow then return nil, true end
    states[i] = state or false
    changed = changed or state ~= nil
  end
  return changed and states or nil, false
end

local function create(view)
  view.known = view.version
  if view.expires then redis.call('ZADD', view.board.expiries, view.expires, view.text) end
end

local function move(view, entry, state)
  local old = view.states[entry.player]
  local member = member_of(view.board, state, entry.player)
  if old and old.member ~= member then redis.call('ZREM', view.ranking, old.member) end
  redis.call('ZADD', view.ranking, state[1], member)
  redis.call('HSET', view.players, entry.player, state_text(state))
  state.member = member
  view.states[entry.player] = state
  if not view.known then create(view) end
  if not view.cause then
    redis.call('HSET', view.board.versions, view.text, view.version)
    view.board.moved[#view.board.moved + 1] = view
  end
  view.cause = entry.text
end

-- Moves the player in one view; answers the change when it is to be published.
local function move_and_tell(view, entry, state, unmuted)
  local mode = view.board.changes
  if mode == 'n' or not view.published or not unmuted then
    move(view, entry, state)
    return nil
  end
  local before = placing(view, view.states[entry.player])
  move(view, entry, state)
  local after = placing(view, state)
  if mode == 'm' and before and before.ranks == after.ranks then return nil end
  return view_change(view, before, after)
end

-- Answers the verdict, nil when there is nothing to tell. The order of the checks is part of what a board is.
local function apply_event(entry, unmuted)
  local board = entry.board
  tick(board, entry.time)
  if board.span and is_duplicate(entry) then return nil end
  local views, new = standing_views(entry)
  if not views then
    return board.refuse_late and dead_letter('WINDOW_EXPIRED', 'all views of ' .. board.name .. ' that the event belongs to have expired') or nil
  end
  if new > 0 and views_of(board) + new > board.most_views then
    return dead_letter('TOO_MANY_VIEWS', board.name .. string.format(' has its most views (maxViews: %.0f), and the event would make %.0f more', board.most_views, new))
  end
  local states, overflow = next_states(entry, views)
  if overflow then return dead_letter('SUM_OUT_OF_RANGE', 'a sum of ' .. board.name .. ' would leave +-(2^53-1) minor units') end
  if not states then return nil end
  local changes = {}
  for i, view in ipairs(views) do
    if states[i] then changes[#changes + 1] = move_and_tell(view, entry, states[i], unmuted) end
  end
  return #changes > 0 and rank_change(board, changes) or nil
end
