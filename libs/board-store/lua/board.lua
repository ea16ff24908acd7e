-- What a board knows beside its views: clocks, counters, the number of views. Read before the first write, written at the end.

local function integer(value)
  return string.format('%.0f', value)
end

local function load_board(board, partition)
  board.expired, board.duplicates, board.seen, board.moved = 0, 0, {}, {}
  redis.call('HLEN', board.versions)
  if board.keeps or board.span then
    local facts = redis.call('HMGET', board.facts, 'clock', 'clock:' .. partition)
    board.clock, board.partition_clock = tonumber(facts[1]), tonumber(facts[2])
  end
  if board.keeps then redis.call('ZCARD', board.expiries) end
  if board.span then redis.call('ZCARD', board.event_ids) end
end

-- How many views exist: those that have expired do not, swept or not.
local function views_of(board)
  local views = redis.call('HLEN', board.versions)
  if board.keeps then views = views - redis.call('ZCOUNT', board.expiries, '-inf', integer(board.clock)) end
  return views
end

-- Moves the board's event clock.
local function tick(board, time)
  if board.keeps then board.clock = math.max(board.clock or time, time) end
end

local function has_expired(view)
  return view.expires and view.expires <= view.board.clock
end

local function store_board(board, partition)
  if board.keeps and board.clock then redis.call('HSET', board.facts, 'clock', integer(board.clock)) end
  if board.expired > 0 then redis.call('HINCRBY', board.facts, 'expired', board.expired) end
  if board.span and board.partition_clock then
    redis.call('HSET', board.facts, 'clock:' .. partition, integer(board.partition_clock))
    if board.duplicates > 0 then redis.call('HINCRBY', board.facts, 'duplicates', board.duplicates) end
    forget_event_ids(board)
  end
end
