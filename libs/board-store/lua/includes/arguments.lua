-- Reads a run, or a stretch (catch-up.lua), from the arguments of a script.
--
-- KEYS  for each board: views, facts, expiries, event ids of the partition, leaders; then for each
--       view: ranking, players
-- ARGV  number of boards, of views, of entries, then
--       boards:  name, generation, updates (per column: s sum, b best, l latest), tie (1 earliest,
--                -1 latest, 0 none), columns (JSON), rank changes (e every, m moved, n none),
--                overtook, leaders, maxViews, late events are dead letters (1, 0), views can expire
--                (1, 0), span of event ids in ms (- none), publish the competition rank (1, 0)
--       views:   number of its board, text, time in ms when it expires (- never), published (1, 0)
--       entries: a text each, with one line for each of (event | dead letter): offset, number of
--                its board | 0, player id | code, occurredAt in ms | '', value per column in sort
--                direction (. for none) | '', numbers of its views | '', event id | detail

-- include base.lua

local function letters(text)
  local found = {}
  for letter in string.gmatch(text, '.') do found[#found + 1] = letter end
  return found
end

local function read_boards(at, key, count)
  local boards = {}
  for i = 1, count do
    local board = { name = ARGV[at + 1], generation = ARGV[at + 2] }
    board.updates, board.tie = letters(ARGV[at + 3]), tonumber(ARGV[at + 4])
    board.columns, board.changes = ARGV[at + 5], ARGV[at + 6]
    board.overtook, board.leaders = tonumber(ARGV[at + 7]), tonumber(ARGV[at + 8])
    board.max_views, board.refuse_late = tonumber(ARGV[at + 9]), ARGV[at + 10] == '1'
    board.keeps, board.span = ARGV[at + 11] == '1', tonumber(ARGV[at + 12])
    board.competition = ARGV[at + 13] == '1'
    board.versions, board.facts, board.expiries = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
    board.event_ids, board.reports = KEYS[key + 4], KEYS[key + 5]
    board.columns_width = 8 * (#board.updates - 1)
    board.id_from = board.columns_width + (board.tie == 0 and 0 or 7) + 1
    boards[i] = board
    at, key = at + 13, key + 5
  end
  return boards, at, key
end

local function read_views(at, key, count, boards)
  local views = {}
  for i = 1, count do
    local view = { board = boards[tonumber(ARGV[at + 1])], text = ARGV[at + 2] }
    view.expires, view.published = tonumber(ARGV[at + 3]), ARGV[at + 4] == '1'
    view.ranking, view.players = KEYS[key + 1], KEYS[key + 2]
    view.states, view.to_read, view.members, view.moved = {}, {}, {}, {} -- see view.lua
    views[i] = view
    at, key = at + 4, key + 2
  end
  return views, at, key
end

local function read_values(text)
  local found = {}
  for word in string.gmatch(text, '%S+') do found[#found + 1] = word ~= '.' and tonumber(word) end
  return found
end

local function views_of_numbers(text, views)
  local found = {}
  for number in string.gmatch(text, '%d+') do found[#found + 1] = views[tonumber(number)] end
  return found
end

local ENTRY = '^(%d+)\n(%d+)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n?(.*)$'

-- Most events have the same views as an earlier one, so equal texts share one list.
local function read_entries(at, count, boards, views)
  local entries, lists = {}, {}
  for i = 1, count do
    local offset, board, player, time, values, numbers, rest = string.match(ARGV[at + i], ENTRY)
    board = boards[tonumber(board)]
    if board then
      local list = lists[numbers] or views_of_numbers(numbers, views)
      lists[numbers] = list
      entries[i] = {
        text = offset, offset = tonumber(offset), board = board, player = player,
        time = tonumber(time), views = list,
        values = #board.updates == 1 and { tonumber(values) } or read_values(values),
        event_id = rest ~= '' and rest .. '\n' .. player,
      }
    else
      entries[i] = { text = offset, offset = tonumber(offset), code = player, detail = rest }
    end
  end
  return entries, at + count
end

-- Reads the run after argument `at` and key `key`. Returns the run, its last argument and key.
local function read_run(at, key)
  local boards, views, entries = unpack(ARGV, at + 1, at + 3)
  local run = {}
  run.boards, at, key = read_boards(at + 3, key, tonumber(boards))
  run.views, at, key = read_views(at, key, tonumber(views), run.boards)
  run.entries, at = read_entries(at, tonumber(entries), run.boards, run.views)
  return run, at, key
end
