-- Applies a run or stretch to its boards. load_run only reads; apply_run writes and cannot fail.

-- include arguments.lua
-- include board.lua
-- include view.lua

local function unexpired_views(entry)
  local board = entry.views.board
  if not board.canExpire then return entry.views end
  local unexpired = {}
  for _, view in ipairs(entry.views) do
    if not (view.expires and view.expires <= board.clock) then unexpired[#unexpired + 1] = view end
  end
  return unexpired
end

-- Sets view.next, the player's next state. Returns if any state changes, and if a sum overflows.
local function find_next_states(entry, views)
  local changes, player, updates = false, entry.player, entry.views.board.updates
  for i = 1, #views do
    local view = views[i]
    local overflow
    view.next, overflow = merge(updates, view.states[player], entry, entry.time)
    if overflow then return false, true end
    changes = changes or view.next ~= nil
  end
  return changes, false
end

local EXPIRED = 'all views of board "%s" that the event would change have expired'
local FULL = 'board "%s" can have %d views (maxViews), too few for the %d that the event would add'
local OVERFLOW = 'a sum of board "%s" would leave +-(2^53-1) minor units'

-- The content of a board depends on the order of these checks.
local function apply_entry(entry)
  if entry.code then return write_dead_letter(entry, entry.code, entry.detail) end
  local board = entry.views.board
  advance_clock(board, entry.time)
  if board.span and is_duplicate(entry) then return end
  local views = unexpired_views(entry)
  if #views < #entry.views then count(board, 'expired') end
  if #views == 0 and #entry.views > 0 then
    if board.refusesLate then
      write_dead_letter(entry, 'WINDOW_EXPIRED', format(EXPIRED, board.name))
    end
    return
  end
  local new = too_many_views(board, views)
  if new then
    count(board, 'tooManyViews')
    local detail = format(FULL, board.name, board.maxViews, new)
    return write_dead_letter(entry, 'TOO_MANY_VIEWS', detail)
  end
  local changes, overflow = find_next_states(entry, views)
  if overflow then write_dead_letter(entry, 'SUM_OUT_OF_RANGE', format(OVERFLOW, board.name)) end
  if not changes then return end
  for i = 1, #views do
    if views[i].next then move_player(views[i], entry) end
  end
end

-- Selects the entries above the applied offset, up to `last`, and loads what apply_run needs.
local function load_run(run, partition, applied_offset, last, unmuted)
  local fresh, now = {}, now_in_us()
  for _, board in ipairs(run.boards) do load_board(board, partition) end
  for _, view in ipairs(run.views) do load_view(view, now, unmuted) end
  for _, entry in ipairs(run.entries) do
    if entry.offset > applied_offset and entry.offset <= last then
      fresh[#fresh + 1] = entry
      if entry.views then
        request_states(entry)
        load_event_id(entry)
      end
    end
  end
  run.fresh = fresh
  for _, view in ipairs(run.views) do load_states(view) end
end

local function apply_run(run, partition)
  for _, entry in ipairs(run.fresh) do apply_entry(entry) end
  for _, board in ipairs(run.boards) do
    for _, view in ipairs(board.moved) do store_view(view) end
    store_board(board, partition)
  end
end
