-- Reads a run, or a stretch (catch-up.lua), from the arguments of a script.
--
-- KEYS  for each board: views, facts, expiries, event ids of the partition, leaders; then for each
--       view: ranking, players
-- ARGV  the boards, views and lists of views (JSON: see run-arguments.ts), the entries as bytes. An
--       entry: offset (d), number of the list of its views (H), then
--         of an event: occurredAt in ms (d), player id, event id ('' for none), a value per column
--                      in sort direction (d each)
--         of a dead letter (its list is 0): 0 (d), code, detail
--       d and H are formats of struct; a text follows its length in bytes (I4). To read bytes costs
--       a tenth of a pattern with captures.

-- include base.lua

local function read_boards(boards, key)
  for _, board in ipairs(boards) do
    board.versions, board.facts, board.expiries = KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
    board.event_ids, board.reports = KEYS[key + 4], KEYS[key + 5]
    local columns = #board.updates
    board.values = '>' .. string.rep('d', columns)
    board.columns_width = 8 * (columns - 1)
    board.id_from = board.columns_width + (board.tie == 0 and 0 or 7) + 1
    key = key + 5
  end
  return key
end

local function read_views(views, key, boards)
  for number, view in ipairs(views) do
    view.board, view.number = boards[view.board], number
    view.ranking, view.players = KEYS[key + 1], KEYS[key + 2]
    view.states, view.to_read, view.members = {}, {}, {} -- see view.lua
    view.moved, view.removed = {}, {}
    key = key + 2
  end
  return key
end

-- Most events have the same board and views as an earlier one, so they share one list.
local function read_lists(lists, boards, views)
  for number, numbers in ipairs(lists) do
    local list = { board = boards[numbers[1]] }
    for i = 2, #numbers do list[i - 1] = views[numbers[i]] end
    lists[number] = list
  end
end

-- Returns the entries. The values of an event are its list part, to make one table less.
local function read_entries(lists, text)
  local entries, at = {}, 1
  while at <= #text do
    local entry, offset, number, time, player, id
    offset, number, time, player, id, at = read_bytes('>dHdI4c0I4c0', text, at)
    if number > 0 then
      local views = lists[number]
      entry = {
        offset = offset, views = views, time = time, player = player,
        read_bytes(views.board.values, text, at)
      }
      at = entry[#entry]
      if id ~= '' then entry.event_id = id .. '\n' .. player end
    else
      entry = { offset = offset, code = player, detail = id }
    end
    entries[#entries + 1] = entry
  end
  return entries
end

-- Reads the run after argument `at` and key `key`. Returns the run, its last argument and key.
local function read_run(at, key)
  local run = cjson.decode(ARGV[at + 1])
  key = read_views(run.views, read_boards(run.boards, key), run.boards)
  read_lists(run.lists, run.boards, run.views)
  run.entries = read_entries(run.lists, ARGV[at + 2])
  return run, at + 2, key
end
