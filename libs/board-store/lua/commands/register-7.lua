-- Registers a part of the boards of a shard. The last part marks the shard as registered: until
-- then, no process applies events to it, so no event misses its board. Does nothing if Redis has
-- lost boards of earlier parts: then the shard stays unregistered, and all parts are registered
-- again.
--
-- Gives boards their first generation, or BUILDING if the shard already has applied offsets or the
-- definition is unknown. A live generation with a definition stays.
--
-- KEYS  live, applied_offsets, definitions, registered, starts, promotions, removed
-- ARGV  is_last            whether this is the last part of the boards (1, 0)
--       earlier_boards     how many boards the earlier parts had
--       board_count
--       boards...          for each: name, hash of its definition, definition (JSON; '' unknown),
--                          starts (JSON; '' whole log), time in us that its promotion must exceed
--                          (0 any)
--       removed_boards...
-- Returns  nothing
-- Cost  O(partitions + boards)
--
-- A generation id is the server's time in us and the hash of the definition, so it is never used
-- again. Even if the clock of a new server is behind, promotions get later times than before.

-- include shard.lua

local function has_applied()
  for _, applied_offset in ipairs(call('HVALS', applied_offsets)) do
    if tonumber(applied_offset) >= 0 then return true end
  end
  return false
end

local function lacks_definition(generation)
  return generation ~= BUILDING and call('HEXISTS', definitions, generation) == 0
end

local known_boards = call('HLEN', live) - call('HEXISTS', live, VERSION)
if known_boards < tonumber(earlier_boards) then return end

local new = {}
local promoted_at = {}
local now = now_in_us()
local is_late = has_applied()
local removed_boards_from = boards_from + 5 * tonumber(board_count)
for i = boards_from, removed_boards_from - 1, 5 do
  local board, hash, definition, start_offsets, since_text = unpack(ARGV, i, i + 4)
  local generation = call('HGET', live, board)
  local since = tonumber(since_text)
  if not generation or lacks_definition(generation) then
    local is_building = is_late or definition == ''
    generation = is_building and BUILDING or format('%d-%s', now, hash)
    new[#new + 1] = { board, generation, definition, start_offsets }
    if not is_building then promoted_at[board] = next_move(promotions, board, since) end
  elseif generation ~= BUILDING and since == 0 and call('HEXISTS', promotions, board) == 0 then
    promoted_at[board] = now -- went live before ranklog stored promotions
  end
end

-- Below, only the first write can fail: Redis refuses it if its memory is full. Then nothing is
-- written.
local is_registered = is_last == '1' and call('EXISTS', registered) == 0
local has_changed = is_registered or next(promoted_at) ~= nil or #new > 0
if is_registered then call('SET', registered, '1') end
for _, words in ipairs(new) do
  local board, generation, definition, start_offsets = unpack(words)
  if generation ~= BUILDING then
    call('HSET', definitions, generation, definition)
    if start_offsets ~= '' then call('HSET', starts, generation, start_offsets) end
  end
  call('HSET', live, board, generation)
  call('SREM', removed, board)
end
for board, time in pairs(promoted_at) do call('HSET', promotions, board, format('%d', time)) end
for i = removed_boards_from, #ARGV do
  local board = ARGV[i]
  local is_gone = call('HEXISTS', live, board) == 0
  if is_gone and call('SADD', removed, board) == 1 then has_changed = true end
end
if has_changed then move_version(live) end
