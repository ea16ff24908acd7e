-- Gives boards their first generation, or BUILDING if the shard already has applied offsets or the
-- definition is unknown. A live generation with a definition stays.
--
-- KEYS  1 live, 2 applied offsets, 3 definitions, 4 registered, 5 starts, 6 promotions, 7 removed
-- ARGV  1 number of boards, then for each: name, hash of its definition, definition (JSON; ''
--       unknown), starts (JSON; '' whole log), time in us that its promotion must exceed (0 any);
--       removed boards
-- Returns  nothing
-- Cost  O(partitions + boards)
--
-- A generation id is the server's time in us and the hash of the definition, so it is never used
-- again. Even if the clock of a new server is behind, promotions get later times than before.

-- include shard.lua

local function has_applied()
  for _, applied_offset in ipairs(call('HVALS', KEYS[2])) do
    if tonumber(applied_offset) >= 0 then return true end
  end
  return false
end

local new, promotions = {}, {}
local now, is_late, last = now_in_us(), has_applied(), 1 + 5 * tonumber(ARGV[1])
for i = 2, last, 5 do
  local board, since = ARGV[i], tonumber(ARGV[i + 4])
  local generation = call('HGET', KEYS[1], board)
  if not generation or (generation ~= BUILDING and call('HEXISTS', KEYS[3], generation) == 0) then
    local is_building = is_late or ARGV[i + 2] == ''
    generation = is_building and BUILDING or format('%d-%s', now, ARGV[i + 1])
    new[#new + 1] = { board, generation, ARGV[i + 2], ARGV[i + 3] }
    if not is_building then promotions[board] = next_move(KEYS[6], board, since) end
  elseif generation ~= BUILDING and since == 0 and call('HEXISTS', KEYS[6], board) == 0 then
    promotions[board] = now -- went live before ranklog stored promotions
  end
end

-- Nothing below can fail.
local has_changed = #new > 0 or call('EXISTS', KEYS[4]) == 0
call('SET', KEYS[4], '1')
for _, words in ipairs(new) do
  local board, generation, definition, starts = unpack(words)
  if generation ~= BUILDING then
    call('HSET', KEYS[3], generation, definition)
    if starts ~= '' then call('HSET', KEYS[5], generation, starts) end
  end
  call('HSET', KEYS[1], board, generation)
  call('SREM', KEYS[7], board)
end
for board, time in pairs(promotions) do call('HSET', KEYS[6], board, format('%d', time)) end
for i = last + 1, #ARGV do
  local is_gone = call('HEXISTS', KEYS[1], ARGV[i]) == 0
  if is_gone and call('SADD', KEYS[7], ARGV[i]) == 1 then has_changed = true end
end
if has_changed then move_version(KEYS[1]) end
