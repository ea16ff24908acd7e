-- Sets the heal targets of a shard: the published positions that Kafka had for all partitions, after all publishers were
-- fenced. A partition that is below its target is healing; the larger target wins.
--
-- KEYS  1 continuity, 2 healing, 3 watermarks, 4 published
-- ARGV  1 replication id, 2 continuity ('' for none), as the caller saw both before it asked Kafka,
--       then partition, published position, ...
-- Returns  the new continuity; '' when the server or the continuity has changed since: then nothing was written
-- Cost  O(partitions)

-- include names.lua
-- include continuity.lua

local id = replication_id()
if id ~= ARGV[1] or (call('GET', KEYS[1]) or '') ~= ARGV[2] then return '' end
local time = call('TIME')
local continuity = id .. ' ' .. time[1] .. format('%06d', tonumber(time[2]))
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
