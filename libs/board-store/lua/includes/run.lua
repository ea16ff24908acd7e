-- Applies a run or stretch to its boards. load_run only reads; apply_run writes and cannot fail. A
-- stretch may have player records between events. All records are joined before the first event,
-- because the result does not depend on the order of events and records.

-- include arguments.lua
-- include board.lua
-- include absent.lua
-- include view.lua

local EXPIRED = 'all views of board "%s" that the event would change have expired'
local FULL = 'board "%s" can have %d views (maxViews), too few for the %d that the event would add'
local OVERFLOW = 'a sum of board "%s" would leave +-(2^53-1) minor units'

-- The views of an event that have not expired by the board's clock; nil if all have.
local function unexpired_views(board, views, entry)
  local unexpired = {}
  for _, view in ipairs(views) do
    if not (view.expires and view.expires <= board.clock) then unexpired[#unexpired + 1] = view end
  end
  if #unexpired == #views then return views end
  count(board, 'expired')
  if #unexpired > 0 then return unexpired end
  if board.refusesLate then
    write_dead_letter(entry, 'WINDOW_EXPIRED', format(EXPIRED, board.name))
  end
end

-- The content of a board depends on the order of these checks.
local function apply_entry(run, entry)
  local views = run.lists[entry[LIST]]
  if not views then return write_dead_letter(entry, entry[CODE], entry[DETAIL]) end
  if views.settles then return apply_record(run, views, entry) end

  local board = views.board
  if board.canExpire then advance_clock(board, entry[TIME]) end
  if board.span and is_duplicate(board, entry) then return end
  if board.canExpire and board.clock >= board.first_expiry then
    views = unexpired_views(board, views, entry)
    if not views then return end
  end

  local new = board.has_new_views and too_many_views(board, views)
  if new then
    count(board, 'tooManyViews')
    local detail = format(FULL, board.name, board.maxViews, new)
    return write_dead_letter(entry, 'TOO_MANY_VIEWS', detail)
  end

  local kind = board.entries and kind_of(board.entries[entry[PLAYER]])
  if kind == ERASED then return pass_erased(views, entry) end
  if find_moves(board, views, entry) then
    make_views(views, entry)
    return write_dead_letter(entry, 'SUM_OUT_OF_RANGE', format(OVERFLOW, board.name))
  end

  local move = kind == BANNED and move_banned or move_player
  for i = 1, #views do
    if views[i].move then move(views[i], entry) end
  end
end

local function request(run, views, entry)
  local board = views.board
  request_states(views, entry[PLAYER])
  if board.asked then board.asked[#board.asked + 1] = entry[PLAYER] end
  if views.settles then
    entry.board = board
    run.records[#run.records + 1] = entry
  elseif board.span then
    load_event_id(board, entry)
  end
end

-- Reads the entries above the applied offset, up to `last`, and loads what apply_run needs.
local function load_run(run, partition, applied_offset, last, unmuted)
  local now = now_in_us()
  for _, board in ipairs(run.boards) do load_board(board, partition) end
  for _, view in ipairs(run.views) do load_view(view, now, unmuted) end

  run.entries = read_entries(run, applied_offset, last)
  run.records = {}
  for _, entry in ipairs(run.entries) do
    local views = run.lists[entry[LIST]]
    if views then request(run, views, entry) end
  end

  for _, view in ipairs(run.views) do load_states(view) end
  for _, board in ipairs(run.boards) do
    if board.asked then load_register(board, run.records) end
  end
end

local function apply_run(run, partition)
  run.partition = partition
  for _, entry in ipairs(run.entries) do apply_entry(run, entry) end
  for _, board in ipairs(run.boards) do
    store_entries(board)
    for _, view in ipairs(board.moved) do
      call_in_chunks('HSET', view.players, view.stored)
      if not board.unranked then store_ranking(view) end
    end
    store_board(board, partition)
  end
end
