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
    local board, key = live[tonumber(ARGV[at + 1])], 5 * i + 2
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
    local key = 7 + 5 * #boards + 2 * i
    views[i] = {
      board = boards[tonumber(ARGV[at + 1])], text = ARGV[at + 2], expires = tonumber(ARGV[at + 3]), published = flag(ARGV[at + 4]),
      ranking = KEYS[key - 1], players = KEYS[key],
      states = {}, wanted = {}, placed = {}, movers = {},
    }
    at = at + 4
  end
  return views, at
end

local function read_values(text)
  local found = {}
  for value in string.gmatch(text, '%S+') do found[#found + 1] = value ~= '.' and tonumber(value) end
  return found
end

local function read_numbers(text, views)
  local found = {}
  for number in string.gmatch(text, '%d+') do found[#found + 1] = views[tonumber(number)] end
  return found
end

-- Most events are about the views of one that came before: lists are shared by their text.
local function read_entries(at, count, boards, views)
  local entries, lists = {}, {}
  for i = 1, count do
    local offset, board, player, time = ARGV[at + 1], boards[tonumber(ARGV[at + 2])], ARGV[at + 3], ARGV[at + 4]
    if board then
      local values, numbers, id = ARGV[at + 5], ARGV[at + 6], nil
      if board.span then numbers, id = string.match(numbers, '^([^\n]*)\n(.*)$') end
      local list = lists[numbers] or read_numbers(numbers, views)
      lists[numbers] = list
      entries[i] = {
        text = offset, offset = tonumber(offset), board = board, player = player, time = tonumber(time), views = list,
        values = #board.updates == 1 and { tonumber(values) } or read_values(values),
        event_id = id and id ~= '' and id .. '\n' .. player,
      }
    else
      entries[i] = { text = offset, offset = tonumber(offset), code = player, detail = time }
    end
    at = at + 6
  end
  return entries
end

local function read_arguments()
  local live, at = read_live(10, tonumber(ARGV[5]))
  local boards, views
  boards, at = read_boards(at, tonumber(ARGV[6]), live)
  views, at = read_views(at, tonumber(ARGV[7]), boards)
  return live, boards, views, read_entries(at, tonumber(ARGV[8]), boards, views)
end
