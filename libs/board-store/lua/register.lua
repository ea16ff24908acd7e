-- Gives boards their first generation, live at once; a board that has one, and its definition, keeps it.
--
-- KEYS  1 live, 2 watermarks, 3 definitions, 4 registered
-- ARGV  for each board: its name, hash of the definition, definition (JSON)
-- Returns  the live generation of each; '-' for one whose first generation has to be built, since events were applied before
-- Cost  O(partitions + boards)
--
-- All boards of a shard in one step: nobody sees only some of them. A generation id is the server's time in us and the hash
-- of the definition, so it is never used again.

local BUILDING = '-'

local function has_applied()
  for _, watermark in ipairs(redis.call('HVALS', KEYS[2])) do
    if tonumber(watermark) >= 0 then return true end
  end
  return false
end

local generations, new = {}, {}
local time, is_late = redis.call('TIME'), has_applied()
for i = 1, #ARGV, 3 do
  local generation = redis.call('HGET', KEYS[1], ARGV[i])
  if not generation or (generation ~= BUILDING and redis.call('HEXISTS', KEYS[3], generation) == 0) then
    generation = is_late and BUILDING or string.format('%s%06d-%s', time[1], tonumber(time[2]), ARGV[i + 1])
    new[#new + 1] = { board = ARGV[i], generation = generation, definition = ARGV[i + 2] }
  end
  generations[#generations + 1] = generation
end
for _, board in ipairs(new) do
  if board.generation ~= BUILDING then redis.call('HSET', KEYS[3], board.generation, board.definition) end
  redis.call('HSET', KEYS[1], board.board, board.generation)
end
redis.call('SET', KEYS[4], '1')
return generations
