-- Arguments of apply.lua as tables. Nothing is written here.

local function letters(text)
  local found = {}
  for letter in string.gmatch(text, '.') do found[#found + 1] = letter end
  return found
end

local function flag(text)
  return text == '1'
end

-- Name and generation of all boards that the caller believes live in the shard.
local function read_live(at, count)
  local live = {}
  for i = 1, count do
    live[i] = { name = ARGV[at + 1], generation = ARGV[at + 2] }
    at = at + 2
  end
  return live, at
end

-- The boards that the entries are about.
local function read_boards(at, count, live)
  local boards = {}
  for i = 1, count do
    local board, key = live[tonumber(ARGV[at + 1])], 5 * i - 1
    board.updates, board.tie, board.columns = letters(ARGV[at + 2]), tonumber(ARGV[at + 3]), ARGV[at + 4]
    board.changes, board.overtook, board.leaders = ARGV[at + 5], tonumber(ARGV[at + 6]), tonumber(ARGV[at + 7])
    board.most_views, board.refuse_late, board.keeps = tonumber(ARGV[at + 8]), flag(ARGV[at + 9]), flag(ARGV[at + 10])
    board.span = tonumber(ARGV[at + 11])
    board.versions, board.facts, board.expiries = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
    board.event_ids, board.reports = KEYS[key + 4], KEYS[key + 5]
    board.columns_width = 8 * (#board.updates - 1)
    board.id_from = board.columns_width + (board.tie == 0 and 0 or 7) + 1
    boards[i] = board
    at = at + 11
  end
  return boards, at
end

local function read_views(at, count, boards)
  local views = {}
  for i = 1, count do
    local key = 4 + 5 * #boards + 2 * i
    views[i] = {
      board = boards[tonumber(ARGV[at + 1])], text = ARGV[at + 2], expires = tonumber(ARGV[at + 3]), published = flag(ARGV[at + 4]),
      ranking = KEYS[key - 1], players = KEYS[key], states = {},
    }
    at = at + 4
  end
  return views, at
end

local function read_event(entry, at, views)
  entry.time = tonumber(ARGV[at + 4])
  entry.values, entry.views = {}, {}
  local column = 0
  for value in string.gmatch(ARGV[at + 5], '%S+') do
    column = column + 1
    entry.values[column] = value ~= '.' and tonumber(value) or nil
  end
  local numbers = ARGV[at + 6]
  if entry.board.span then
    local id
    numbers, id = string.match(numbers, '^([^\n]*)\n?(.*)$')
    if id ~= '' then entry.event_id = id .. '\n' .. entry.player end
  end
  for number in string.gmatch(numbers, '%d+') do
    entry.views[#entry.views + 1] = views[tonumber(number)]
  end
end

local function read_entries(at, count, boards, views)
  local entries = {}
  for i = 1, count do
    local entry = { text = ARGV[at + 1], offset = tonumber(ARGV[at + 1]), board = boards[tonumber(ARGV[at + 2])], player = ARGV[at + 3], detail = ARGV[at + 4] }
    if entry.board then read_event(entry, at, views) end
    entries[i] = entry
    at = at + 6
  end
  return entries
end

local function read_arguments()
  local live, at = read_live(8, tonumber(ARGV[5]))
  local boards, views
  boards, at = read_boards(at, tonumber(ARGV[6]), live)
  views, at = read_views(at, tonumber(ARGV[7]), boards)
  return live, boards, views, read_entries(at, tonumber(ARGV[8]), boards, views)
end
