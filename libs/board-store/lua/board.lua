-- What a board knows beside its views: clocks, counters, the number of views. Read before the first write, written at the end.

local COUNTERS = { 'expired', 'tooManyViews', 'duplicates' }

local function load_board(board, partition)
  board.expired, board.duplicates, board.refused, board.seen, board.moved = 0, 0, 0, {}, {}
  board.head = head_of('change', board)
  local facts = call('HMGET', board.facts, 'floor', 'version', 'clock', 'clock:' .. partition, unpack(COUNTERS))
  board.floor, board.version = tonumber(facts[1]) or 0, tonumber(facts[2]) or 0
  board.clock, board.partition_clock = tonumber(facts[3]), tonumber(facts[4])
  board.counted = {}
  for i, name in ipairs(COUNTERS) do board.counted[name] = tonumber(facts[4 + i]) or 0 end
end

-- How many views exist: those that have expired do not, swept or not.
local function views_of(board)
  local views = call('HLEN', board.versions)
  if board.keeps then views = views - call('ZCOUNT', board.expiries, '-inf', format('%d', board.clock)) end
  return views
end

-- Moves the board's event clock.
local function tick(board, time)
  if board.keeps and (not board.clock or time > board.clock) then board.clock = time end
end

local function has_expired(view)
  return view.expires and view.expires <= view.board.clock
end

-- `version` is the largest of all its views': a promotion goes on above it.
local function store_board(board, partition)
  local facts = {}
  local function note(name, value)
    facts[#facts + 1], facts[#facts + 2] = name, format('%d', value)
  end
  local function count(name, more)
    if more > 0 then note(name, board.counted[name] + more) end
  end
  if #board.moved > 0 then note('version', board.version) end
  if board.keeps and board.clock then note('clock', board.clock) end
  if board.span and board.partition_clock then note('clock:' .. partition, board.partition_clock) end
  count('expired', board.expired)
  count('tooManyViews', board.refused)
  count('duplicates', board.duplicates)
  if #facts > 0 then call('HSET', board.facts, unpack(facts)) end
  if board.span and board.partition_clock then forget_event_ids(board) end
end
