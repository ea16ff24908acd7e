-- Arguments of apply.lua as tables, and what must be read before the first write.

local function letters(text)
  local found = {}
  for letter in string.gmatch(text, '.') do found[#found + 1] = letter end
  return found
end

local function read_boards(at, count)
  local boards = {}
  for i = 1, count do
    boards[i] = {
      name = ARGV[at + 1], generation = ARGV[at + 2], updates = letters(ARGV[at + 3]),
      tie = tonumber(ARGV[at + 4]), columns = ARGV[at + 5], versions = KEYS[4 + i],
    }
    at = at + 5
  end
  return boards, at
end

local function read_views(at, count, boards)
  local views = {}
  for i = 1, count do
    local board = boards[tonumber(ARGV[at + 1])]
    local key = 4 + #boards + 2 * i
    views[i] = { board = board, text = ARGV[at + 2], versions = board.versions, ranking = KEYS[key - 1], players = KEYS[key], states = {} }
    at = at + 2
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
  for number in string.gmatch(ARGV[at + 6], '%d+') do
    entry.views[#entry.views + 1] = views[tonumber(number)]
  end
end

local function read_arguments()
  local boards, at = read_boards(7, tonumber(ARGV[5]))
  local views
  views, at = read_views(at, tonumber(ARGV[6]), boards)
  local entries = {}
  for i = 1, tonumber(ARGV[7]) do
    local entry = { text = ARGV[at + 1], offset = tonumber(ARGV[at + 1]), board = boards[tonumber(ARGV[at + 2])], player = ARGV[at + 3], detail = ARGV[at + 4] }
    if entry.board then read_event(entry, at, views) end
    entries[i] = entry
    at = at + 6
  end
  return boards, views, entries
end

-- Reads the version; the other reads are there to fail now, should a key hold another type.
local function load_view(view, now)
  local version = tonumber(redis.call('HGET', view.versions, view.text) or '0')
  view.version = string.format('%.0f', math.max(version + 1, now))
  redis.call('ZCARD', view.ranking)
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
