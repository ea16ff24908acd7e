-- Ends a resync. The caller has fenced all publishers, then read the published positions. Each
-- partition below its published position gets this position as its recovery target. An earlier
-- target stays if it is larger.
--
-- If the shard has lost a promotion or a removal of a board, this script empties the shard, except
-- for snapshots. Its boards are then built again with the definitions in Kafka, because these
-- definitions have made the results since that promotion or removal. The caller has deleted the
-- leader reports (delete-leaders-1.lua).
--
-- The caller looks for such a loss in short calls before this one, because there may be many
-- boards. Every change of a pointer sets a new version (shard.lua). If the version has changed
-- since the caller looked, this script refuses to end the resync.
--
-- KEYS  continuity, recovery_targets, applied_offsets, published, live, registered, records,
--       promotions, shadows, previous, definitions, snapshots, emptied
--       outboxes...   of each partition
-- ARGV  server        replication id that the caller saw before the resync
--       begun         continuity that begin-resync-2.lua returned
--       seen_version  version of the pointers before the caller read them ('' for none)
--       is_outdated   whether the shard has lost a promotion or a removal (1, 0)
--       positions...  for each partition: its number, published position
-- Returns  the new continuity; '' if the server, the continuity or the boards have changed since:
--          then nothing was written
-- Cost  O(partitions + snapshots), and O(generations) if the sweep has not yet discarded the
--       generations of an earlier call; memory is freed in the background

-- include shard.lua

-- Moves the definitions of all generations except snapshots to `emptied`. The sweep discards these
-- generations in parts.
local function leave_generations()
  local kept = {}
  for _, generation in ipairs(call('HKEYS', snapshots)) do
    kept[generation] = call('HGET', definitions, generation) or nil
    call('HDEL', definitions, generation)
  end

  if call('EXISTS', emptied) == 1 then
    call_in_chunks('HSET', emptied, call('HGETALL', definitions))
    call('UNLINK', definitions)
  elseif call('EXISTS', definitions) == 1 then
    call('RENAME', definitions, emptied)
  end

  for generation, definition in pairs(kept) do call('HSET', definitions, generation, definition) end
end

-- Recovery targets and published positions stay: they come from Kafka, and may only be raised.
local function empty()
  leave_generations()
  call('UNLINK', live, applied_offsets, registered, records, promotions, shadows, previous)
  if seen_version ~= '' then call('HSET', live, VERSION, seen_version) end
  move_version(live)
  for i = outboxes_from, #KEYS do call('UNLINK', KEYS[i]) end
end

if replication_id() ~= server or call('GET', continuity) ~= begun then return '' end
if (call('HGET', live, VERSION) or '') ~= seen_version then return '' end

-- Below, only the first write can fail: Redis refuses it if its memory is full. Then nothing is
-- written.
local resynced = format('%s %d', server, math.max(now_in_us(), time_of(begun) + 1))
call('SET', continuity, resynced)
if is_outdated == '1' then empty() end
for i = positions_from, #ARGV, 2 do
  local partition = ARGV[i]
  local target = tonumber(call('HGET', recovery_targets, partition) or '0')
  local position = math.max(tonumber(ARGV[i + 1]), target)
  local text = format('%d', position)

  local next_offset = tonumber(call('HGET', applied_offsets, partition) or '-1') + 1
  local stored_position = tonumber(call('HGET', published, partition) or '0')
  if next_offset < position then call('HSET', recovery_targets, partition, text) end
  if stored_position < position then call('HSET', published, partition, text) end
end
return resynced
