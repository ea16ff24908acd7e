-- The ban register of a generation: player -> entry of the player record that counts. An entry is
-- kind, time in ms, partition and offset of the record, then a space and JSON (ban-register.ts). An
-- erasure counts before all other records. Otherwise the latest record counts, by time, partition
-- and offset. So records can be joined in any order.
--
-- The kind decides whether a player is present. Only present players are in rankings.
--   unbanned  present, as is a player without an entry
--   banned    has states, which events change, and no members
--   erased    has neither

-- include arguments.lua

local UNBANNED, BANNED, ERASED = 'unbanned', 'banned', 'erased'
local ENTRY = EVENT_ID -- the item of a player record where an event has its id
local PARTS_OF_ENTRY = '^(%a+) (%-?%d+) (%d+) (%d+)'

local function kind_of(entry)
  if not entry then return UNBANNED end
  return string.match(entry, '^%a+')
end

-- Loads the entries of players into `entries`; false for a player without one.
local function load_entries(bans, players, entries)
  for first, last in chunks(players) do
    local found = call('HMGET', bans, unpack(players, first, last))
    for i, entry in ipairs(found) do entries[players[first + i - 1]] = entry end
  end
end

-- Whether an entry replaces the current one (rules above).
local function counts_before(entry, current)
  if not current then return true end
  local kind, time, partition, offset = string.match(entry, PARTS_OF_ENTRY)
  local current_kind, current_time, current_partition, current_offset =
    string.match(current, PARTS_OF_ENTRY)
  if (kind == ERASED) ~= (current_kind == ERASED) then return kind == ERASED end
  if time ~= current_time then return tonumber(time) > tonumber(current_time) end
  if partition ~= current_partition then
    return tonumber(partition) > tonumber(current_partition)
  end
  return tonumber(offset) > tonumber(current_offset)
end

-- Joins a player record; store_entries stores it. Sets record.changes if the kind changes.
local function join(board, record)
  local player = record[PLAYER]
  local entry = record[ENTRY]
  local current = board.entries[player]
  if not counts_before(entry, current) then return end

  record.changes = kind_of(entry) ~= kind_of(current)
  board.entries[player] = entry
  local joined = board.joined
  joined[#joined + 1] = player
  joined[#joined + 1] = entry
end

-- Loads the entries of all players of the run and joins its records, before any event is applied.
local function load_register(board, records)
  board.entries = {}
  board.joined = {}
  load_entries(board.bans, board.asked, board.entries)
  for _, record in ipairs(records) do
    if record.board == board then join(board, record) end
  end
end

-- `joined` may have several entries of a player: HSET keeps the last one, which counts.
local function store_entries(board)
  if board.joined then call_in_chunks('HSET', board.bans, board.joined) end
end
