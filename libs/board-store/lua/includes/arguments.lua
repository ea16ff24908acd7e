-- Reads a run, or a stretch (catch-up.lua), from the arguments of a script.
--
-- Its keys: for each board, views, facts, expiries, event ids of the partition, leaders, bans; then
-- for each view, ranking and players.
-- Its arguments: first, as JSON (run-arguments.ts), boards, views, lists of views, number of values
-- in each entry, and whether this call settles the last views of its player records; then the
-- entries as bytes.
-- An entry: offset (d), number of the list of its views (H), then
--   of an event: occurredAt in ms (d), player id, event id ('' for none), a value per column in
--                sort direction (d each), then zeros up to the number of values
--   of a player record: 0 (d), player id, entry of the ban register, zeros. Its list names
--                the views to settle (settle.lua)
--   of a dead letter (its list is 0): 0 (d), code, detail, zeros
-- d and H are formats of struct; a text follows its length in bytes (I4). Reading bytes costs a
-- tenth of matching a pattern with captures.

-- include base.lua

-- An entry is a table of the items in its bytes, in this order. The first value is at VALUES + 1.
local OFFSET, LIST, TIME, PLAYER, EVENT_ID, VALUES = 1, 2, 3, 4, 5, 5
local CODE, DETAIL = PLAYER, EVENT_ID -- of a dead letter

local function read_boards(boards, key)
  for _, board in ipairs(boards) do
    board.versions = KEYS[key]
    board.facts = KEYS[key + 1]
    board.expiries = KEYS[key + 2]
    board.event_ids = KEYS[key + 3]
    board.reports = KEYS[key + 4]
    board.bans = KEYS[key + 5]

    local columns = #board.updates
    board.columns_width = 8 * (columns - 1)
    local reach_time_width = board.tie == 0 and 0 or 7
    board.id_from = board.columns_width + reach_time_width + 1
    key = key + 6
  end
  return key
end

local function read_views(views, key, boards)
  for number, view in ipairs(views) do
    view.board = boards[view.board]
    view.number = number
    view.ranking = KEYS[key]
    view.players = KEYS[key + 1]

    -- See view.lua.
    view.states = {}
    view.to_read = {}
    view.own_move = {}
    view.stored = {}
    view.stored_at = {}
    view.old_members = {}
    view.added = {}
    key = key + 2
  end
  return key
end

-- Replaces the numbers in the lists by boards and views. A list has the number of a board, then the
-- numbers of views. Most events have the same board and views as an earlier one, so they share one
-- list. A player record has a list of its own, in `settles`: the board, and the views to settle.
local function read_lists(lists, boards, views)
  for number, list in ipairs(lists) do
    local numbers = list.settles or list
    local found = { board = boards[numbers[1]], settles = list.settles ~= nil }
    for i = 2, #numbers do found[i - 1] = views[numbers[i]] end
    if found.settles then found.board.has_records = true end
    lists[number] = found
  end
end

-- Reads the run that begins at argument `at` and key `key`, except for its entries. Returns the
-- run, and the positions of the argument and the key after it.
local function read_run(at, key)
  local run = cjson.decode(ARGV[at])
  local views_key = read_boards(run.boards, key)
  local next_key = read_views(run.views, views_key, run.boards)
  read_lists(run.lists, run.boards, run.views)
  run.bytes = ARGV[at + 1]
  return run, at + 2, next_key
end

-- Returns the entries of a run above the applied offset, up to `last`. One struct.unpack reads a
-- whole entry: a call costs more than reading the values.
local function read_entries(run, applied_offset, last)
  local layout = '>dHdI4c0I4c0' .. string.rep('d', run.columns)
  local bytes = run.bytes
  local entries = {}
  local at = 1
  while at <= #bytes do
    local entry = { read_bytes(layout, bytes, at) }
    at = entry[#entry] -- behind the values: where the next entry begins
    local offset = entry[OFFSET]
    if offset > applied_offset and offset <= last then entries[#entries + 1] = entry end
  end
  return entries
end
