-- Gives a board its first generation, live at once, unless it has one.
--
-- KEYS  1 live, 2 watermarks, 3 definitions
-- ARGV  1 board, 2 hash of the definition, 3 definition (JSON)
-- Returns  the id of the live generation; '' when the shard has applied events already: then the board needs a build
-- Cost  O(partitions)
--
-- A generation id is the server's time in us and the hash of the definition, so it is never used again.

local live = redis.call('HGET', KEYS[1], ARGV[1])
if live then return live end
for _, watermark in ipairs(redis.call('HVALS', KEYS[2])) do
  if tonumber(watermark) >= 0 then return '' end
end
local time = redis.call('TIME')
local generation = string.format('%s%06d-%s', time[1], tonumber(time[2]), ARGV[2])
redis.call('HSET', KEYS[3], generation, ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], generation)
return generation
