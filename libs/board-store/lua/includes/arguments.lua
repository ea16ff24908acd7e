-- Reads a run, or a stretch (catch-up.lua), from the arguments of a script.
--
-- KEYS  for each board: views, facts, expiries, event ids of the partition, leaders; then for each
--       view: ranking, players
-- ARGV  the boards and views (JSON: see run-arguments.ts), the entries as bytes. An entry: offset
--       (d), number of its board (H), then
--         of an event: occurredAt in ms (d), player id, size of the list that follows (H), numbers
--                      of its views (H each), event id ('' for none), a value per column in sort
--                      direction (d each; NaN for none)
--         of a dead letter (its board is 0): code, detail
--       d and H are formats of struct; a text follows its length in bytes (I4). To read bytes costs
--       a tenth of a pattern with captures.

-- include base.lua

local read_bytes = struct.unpack

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
  for number, view in ipairs(views) do
    view.board, view.number = boards[view.board], number
    view.ranking, view.players = KEYS[key + 1], KEYS[key + 2]
    view.states, view.to_read, view.members, view.moved = {}, {}, {}, {} -- see view.lua
    key = key + 2
  end
  return key
end

local function views_of_numbers(numbers, views)
  local found = {}
  for at = 1, #numbers, 2 do found[#found + 1] = views[read_bytes('>H', numbers, at)] end
  return found
end

local function read_values(count, text, at)
  local values = {}
  for c = 1, count do
    local value
    value, at = read_bytes('>d', text, at)
    values[c] = value == value and value
  end
  return values, at
end

-- Most events have the same views as an earlier one, so equal numbers share one list.
local function read_event(offset, board, text, at, run)
  local time, player, numbers, id, values
  time, player, numbers, id, at = read_bytes('>dI4c0Hc0I4c0', text, at)
  local views = run.lists[numbers] or views_of_numbers(numbers, run.views)
  run.lists[numbers] = views
  values, at = read_values(#board.updates, text, at)
  return {
    offset = offset, board = board, time = time, player = player, views = views, values = values,
    event_id = id ~= '' and id .. '\n' .. player,
  }, at
end

local function read_entries(run, text)
  local entries, at = {}, 1
  while at <= #text do
    local offset, number, entry
    offset, number, at = read_bytes('>dH', text, at)
    if number > 0 then
      entry, at = read_event(offset, run.boards[number], text, at, run)
    else
      entry = { offset = offset }
      entry.code, entry.detail, at = read_bytes('>I4c0I4c0', text, at)
    end
    entries[#entries + 1] = entry
  end
  return entries
end

-- Reads the run after argument `at` and key `key`. Returns the run, its last argument and key.
local function read_run(at, key)
  local run = cjson.decode(ARGV[at + 1])
  key = read_views(run.views, read_boards(run.boards, key), run.boards)
  run.lists = {}
  run.entries = read_entries(run, ARGV[at + 2])
  return run, at + 2, key
end
