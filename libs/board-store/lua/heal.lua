-- Ends a comparison that begin.lua began: sets the heal targets of a shard, the published positions that Kafka had for all
-- partitions, after all publishers were fenced. A partition that is below its target is healing; the larger target wins.
--
-- KEYS  1 continuity, 2 healing, 3 watermarks, 4 published
-- ARGV  1 replication id as the caller saw it before, 2 continuity that begin.lua gave, then partition, published position, ...
-- Returns  the new continuity; '' when the server or the continuity has changed since: then nothing was written
-- Cost  O(partitions)

-- include names.lua
-- include continuity.lua

local id = replication_id()
if id ~= ARGV[1] or call('GET', KEYS[1]) ~= ARGV[2] then return '' end
local continuity = format('%s %d', id, math.max(now_in_us(), time_of(ARGV[2]) + 1))
call('SET', KEYS[1], continuity)
for i = 3, #ARGV, 2 do
  local partition = ARGV[i]
  local position = math.max(tonumber(ARGV[i + 1]), tonumber(call('HGET', KEYS[2], partition) or '0'))
  local applied = tonumber(call('HGET', KEYS[3], partition) or '-1') + 1
  local published = tonumber(call('HGET', KEYS[4], partition) or '0')
  if applied < position then call('HSET', KEYS[2], partition, format('%d', position)) end
  if published < position then call('HSET', KEYS[4], partition, format('%d', position)) end
end
return continuity
