-- Sets watermarks that somebody has moved back to the last applied record, so that live ingest goes on behind it.
--
-- KEYS  1 lease, 2 watermarks, 3 records, 4 published, 5 shadows, 6 previous, 7 discarded, 8 continuity, 9 healing, then the outbox of
--       each partition
-- ARGV  1 token, then for each partition: its number, its watermark and its last record as the caller has seen them ('' for none), and
--       the offset of that record (-1: there is none that can be read)
-- Returns  the watermark of each partition as it is now; -5 LEASE_LOST, nothing was written
-- Cost  O(partitions + shadows)
--
-- A partition that is not as the caller has seen it stays as it is. What the outbox holds was applied, too, and where there is no record,
-- what is published, unless the partition is healing. Shadows of the shard may have followed a watermark to where it was moved: they
-- are let go.
-- Who believes in a watermark that is lower now would take that for a loss: the shard is compared with Kafka before it goes on.

-- include names.lua
-- include continuity.lua
-- include lease.lua

local function last_applied(partition, outbox, record)
  local last = call('ZRANGE', outbox, -1, -1, 'WITHSCORES')
  local applied = math.max(record, tonumber(last[2] or '-1'))
  if record >= 0 or call('HEXISTS', KEYS[9], partition) == 1 then return applied end
  return math.max(applied, tonumber(call('HGET', KEYS[4], partition) or '0') - 1)
end

if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
local found, has_mended, is_lower = {}, false, false
for i = 2, #ARGV, 4 do
  local partition, outbox = ARGV[i], KEYS[10 + (i - 2) / 4]
  local is_as_seen = (call('HGET', KEYS[2], partition) or '') == ARGV[i + 1]
    and (call('HGET', KEYS[3], partition) or '') == ARGV[i + 2]
  if is_as_seen then
    local record = tonumber(ARGV[i + 3])
    local applied = last_applied(partition, outbox, record)
    call('HSET', KEYS[2], partition, format('%d', applied))
    if record < 0 then call('HDEL', KEYS[3], partition) end -- the next event leaves its own
    has_mended, is_lower = true, is_lower or applied < (tonumber(ARGV[i + 1]) or -1)
  end
  found[#found + 1] = call('HGET', KEYS[2], partition) or '-1'
end
if has_mended then
  for _, board in ipairs(call('HKEYS', KEYS[5])) do let_go(KEYS[5], KEYS[6], KEYS[7], board) end
end
local continuity = call('GET', KEYS[8])
if is_lower and is_continued(continuity) then call('SET', KEYS[8], format('lost %d', time_of(continuity))) end
return found
