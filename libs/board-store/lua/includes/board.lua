-- The data of a board other than its views: clocks, counters and event ids.

-- include base.lua
-- include arguments.lua

local function load_board(board, partition)
  board.seen = {}
  board.moved = {}
  board.counts = {}

  -- load_view sets these two from the views of the run.
  board.first_expiry = math.huge
  board.has_new_views = false

  -- Players to look up in the ban register; false if the register is empty and the run has no
  -- player records.
  local needs_register = board.has_records or call('EXISTS', board.bans) == 1
  board.asked = needs_register and {}

  local facts = call('HMGET', board.facts, 'floor', 'version', 'clock', 'clock:' .. partition)
  board.floor = tonumber(facts[1]) or 0
  board.version = tonumber(facts[2]) or 0
  board.clock = tonumber(facts[3])
  board.partition_clock = tonumber(facts[4])
end

local function count(board, name)
  board.counts[name] = (board.counts[name] or 0) + 1
end

-- Counts the views, except expired views that are not swept yet.
local function views_of(board)
  local views = call('HLEN', board.versions)
  if not board.canExpire then return views end
  return views - call('ZCOUNT', board.expiries, '-inf', format('%d', board.clock))
end

-- Returns how many views an event would add, if the board would then exceed `maxViews`; else false.
local function too_many_views(board, views)
  local new = 0
  for i = 1, #views do
    if not views[i].known then new = new + 1 end
  end
  if new == 0 then return false end
  if views_of(board) + new <= board.maxViews then return false end
  return new
end

local function advance_clock(board, time)
  if not board.clock or time > board.clock then board.clock = time end
end

-- With `deduplicate`, an event id of a player counts once within a span of event time. A sorted set
-- per generation and partition holds: event id, newline, player id -> time of the event. The span
-- ends at the partition's clock, the latest time of the board's events in the partition. So the
-- partition's log alone decides what a duplicate is.

local function oldest_id_time(board)
  return board.partition_clock - board.span
end

-- The id of an event in the sorted set; false if the event has no event id.
local function event_id_of(entry)
  return entry[EVENT_ID] ~= '' and entry[EVENT_ID] .. '\n' .. entry[PLAYER]
end

local function load_event_id(board, entry)
  local id = event_id_of(entry)
  if id and board.seen[id] == nil then
    board.seen[id] = tonumber(call('ZSCORE', board.event_ids, id)) or false
  end
end

-- Whether an event is a duplicate. If not, stores its id. Also advances the partition's clock. An
-- event from before the span is never a duplicate, and its id is not stored.
local function is_duplicate(board, entry)
  local id = event_id_of(entry)
  local time = entry[TIME]
  board.partition_clock = math.max(board.partition_clock or time, time)
  if not id or time <= oldest_id_time(board) then return false end
  local seen = board.seen[id]
  if seen and seen > oldest_id_time(board) then
    count(board, 'duplicates')
    return true
  end
  board.seen[id] = time
  call('ZADD', board.event_ids, format('%d', time), id)
  return false
end

-- If the clock jumps ahead, many ids become outdated at once. This bound keeps the script short. A
-- call adds fewer ids than the bound, so later calls delete the rest. Until then, is_duplicate
-- ignores outdated ids.
local MAX_IDS_DELETED = 5000

local function delete_old_event_ids(board)
  local old = call('ZCOUNT', board.event_ids, '-inf', format('%d', oldest_id_time(board)))
  local last = math.min(old, MAX_IDS_DELETED) - 1
  if last >= 0 then call('ZREMRANGEBYRANK', board.event_ids, 0, last) end
end

local function store_board(board, partition)
  local facts = {}
  local function set(name, value)
    facts[#facts + 1] = name
    facts[#facts + 1] = format('%d', value)
  end
  if #board.moved > 0 then set('version', board.version) end
  if board.canExpire and board.clock then set('clock', board.clock) end
  if board.span and board.partition_clock then set('clock:' .. partition, board.partition_clock) end
  if #facts > 0 then call('HSET', board.facts, unpack(facts)) end
  for name, events in pairs(board.counts) do call('HINCRBY', board.facts, name, events) end
  if board.span and board.partition_clock then delete_old_event_ids(board) end
end
