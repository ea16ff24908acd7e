-- Reads a run, or a stretch (catch-up.lua), from the arguments of a script.
--
-- KEYS  for each board: views, facts, expiries, event ids of the partition, leaders; then for each
--       view: ranking, players
-- ARGV  the boards and views (JSON: see run-arguments.ts), number of entries, then
--       entries: a text each, with one line for each of (event | dead letter): offset, number of
--                its board | 0, player id | code, occurredAt in ms | '', value per column in sort
--                direction (. for none) | '', numbers of its views | '', event id | detail

-- include base.lua

local function read_boards(boards, key)
  for _, board in ipairs(boards) do
    board.versions, board.facts, board.expiries = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
    board.event_ids, board.reports = KEYS[key + 4], KEYS[key + 5]
    board.columns_width = 8 * (#board.updates - 1)
    board.id_from = board.columns_width + (board.tie == 0 and 0 or 7) + 1
    key = key + 5
  end
  return key
end

local function read_views(views, key, boards)
  for _, view in ipairs(views) do
    view.board = boards[view.board]
    view.ranking, view.players = KEYS[key + 1], KEYS[key + 2]
    view.states, view.to_read, view.members, view.moved = {}, {}, {}, {} -- see view.lua
    key = key + 2
  end
  return key
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
  return entries
end

-- Reads the run after argument `at` and key `key`. Returns the run, its last argument and key.
local function read_run(at, key)
  local run, count = cjson.decode(ARGV[at + 1]), tonumber(ARGV[at + 2])
  key = read_views(run.views, read_boards(run.boards, key), run.boards)
  run.entries = read_entries(at + 2, count, run.boards, run.views)
  return run, at + 2 + count, key
end
