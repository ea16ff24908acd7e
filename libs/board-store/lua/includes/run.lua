-- Applies a run to its boards. load_run reads everything before the first write; apply_run cannot fail.

-- include arguments.lua
-- include board.lua
-- include view.lua

-- The views of the event that have not expired.
local function unexpired_views(entry)
  local board = entry.board
  if not board.keeps then return entry.views end
  local unexpired = {}
  for _, view in ipairs(entry.views) do
    if not (view.expires and view.expires <= board.clock) then unexpired[#unexpired + 1] = view end
  end
  return unexpired
end

-- The number of new views if the board may not have that many more; else false.
local function too_many_views(board, views)
  local new = 0
  for i = 1, #views do
    if not views[i].known then new = new + 1 end
  end
  return new > 0 and views_of(board) + new > board.max_views and new
end

-- Sets the next state of the player in each view, nil if it stays. Returns whether one changes, and whether a sum overflows.
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

local function move_in_views(entry, views)
  local has_verdict = false
  for i = 1, #views do
    local change = views[i].next and move_player(views[i], entry)
    if change then
      if has_verdict then write('\n') else begin_verdict(entry.text, entry.board.head) end
      write(change)
      has_verdict = true
    end
  end
end

-- The order of the checks decides what a board is.
local function apply_event(entry)
  local board = entry.board
  advance_clock(board, entry.time)
  if board.span and is_duplicate(entry) then return end
  local views = unexpired_views(entry)
  if #views < #entry.views then count(board, 'expired') end
  if #views == 0 and #entry.views > 0 then
    if board.refuse_late then write_dead_letter(entry, 'WINDOW_EXPIRED', 'all views of ' .. board.name .. ' that the event belongs to have expired') end
    return
  end
  local new = too_many_views(board, views)
  if new then
    count(board, 'tooManyViews')
    return write_dead_letter(entry, 'TOO_MANY_VIEWS', format('%s has its most views (maxViews: %d), and the event would make %d more', board.name, board.max_views, new))
  end
  local changes, overflow = find_next_states(entry, views)
  if overflow then return write_dead_letter(entry, 'SUM_OUT_OF_RANGE', 'a sum of ' .. board.name .. ' would leave +-(2^53-1) minor units') end
  if changes then move_in_views(entry, views) end
end

-- Keeps the entries above the applied offset, up to `last`. `unmuted`: whether their results are published.
local function load_run(run, partition, applied_offset, last, unmuted)
  local fresh, now = {}, now_in_us()
  for _, entry in ipairs(run.entries) do
    if entry.offset > applied_offset and entry.offset <= last then fresh[#fresh + 1] = entry end
  end
  run.fresh = fresh
  for _, board in ipairs(run.boards) do load_board(board, partition) end
  for _, view in ipairs(run.views) do load_view(view, now, unmuted) end
  for _, entry in ipairs(fresh) do
    if entry.board then
      request_states(entry)
      load_event_id(entry)
    end
  end
  for _, view in ipairs(run.views) do load_states(view) end
end

local function apply_run(run, partition)
  for _, entry in ipairs(run.fresh) do
    if entry.board then apply_event(entry) else write_dead_letter(entry, entry.code, entry.detail) end
  end
  for _, board in ipairs(run.boards) do
    for _, view in ipairs(board.moved) do store_view(view) end
    store_board(board, partition)
  end
end
