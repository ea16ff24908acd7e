-- Event ids that count once within a span of event time; for boards that ask for it. One set a board and partition:
-- event id, newline, player id -> time of the event that was let through. The clock is the latest time of the board's
-- events in this partition, so the verdict follows from the partition's log alone.

local function remembered_from(board)
  return board.partition_clock - board.span
end

local function load_event_id(entry)
  local board, id = entry.board, entry.event_id
  if id and board.seen[id] == nil then
    board.seen[id] = tonumber(call('ZSCORE', board.event_ids, id)) or false
  end
end

-- Moves the clock. An event at the edge of the span or before it is neither dropped nor remembered.
local function is_duplicate(entry)
  local board, id = entry.board, entry.event_id
  board.partition_clock = math.max(board.partition_clock or entry.time, entry.time)
  if not id or entry.time <= remembered_from(board) then return false end
  local seen = board.seen[id]
  if seen and seen > remembered_from(board) then
    board.duplicates = board.duplicates + 1
    return true
  end
  board.seen[id] = entry.time
  call('ZADD', board.event_ids, format('%d', entry.time), id)
  return false
end

-- A clock that leaps leaves many behind at once. More than a call can add, so what is left over does not stay for long;
-- is_duplicate does not heed it.
local MOST_FORGOTTEN = 5000

local function forget_event_ids(board)
  local left = call('ZCOUNT', board.event_ids, '-inf', format('%d', remembered_from(board)))
  if left > 0 then call('ZREMRANGEBYRANK', board.event_ids, 0, math.min(left, MOST_FORGOTTEN) - 1) end
end
