-- Ends a resync: a partition below its published position, read after all publishers were fenced,
-- gets this position as its recovery target. An earlier target stays if it is larger.
--
-- A shard that has lost a board's promotion or removal is emptied (but for snapshots) and built
-- again with the definitions in Kafka: results since then come from these, not from those it has.
--
-- KEYS  continuity, recovery_targets, applied_offsets, published, live, registered, records,
--       promotions, shadows, previous, definitions, snapshots, discarded
--       outboxes...   of each partition
--       leaders...    of each board
-- ARGV  server        replication id that the caller saw before the resync
--       begun         continuity that begin-resync-2.lua returned
--       partition_count
--       positions...  for each partition: its number, published position
--       boards...     for each board that Redis or Kafka knows: name, time in us of its last
--                     promotion or removal in Kafka (0 none), defined (1) or removed (0)
-- Returns  { new continuity, boards with a lost promotion or removal, ... }; {} if the server, the
--          continuity or the boards have changed since: then nothing was written
-- Cost  O(partitions + boards + generations); memory is freed in the background

-- include shard.lua

local boards_from = positions_from + 2 * tonumber(partition_count)

-- A removed board has no pointer, or BUILDING if it is being built again.
local function has_lost_promotion(board, since, is_defined)
  local pointer = call('HGET', live, board)
  if not is_defined and (not pointer or pointer == BUILDING) then return false end
  return tonumber(call('HGET', promotions, board) or '0') < since
end

local function read_boards()
  local known, outdated = {}, {}
  local is_registered = call('EXISTS', registered) == 1
  for i = boards_from, #ARGV, 3 do
    local board, since, is_defined = ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2] == '1'
    known[board] = true
    if is_registered and has_lost_promotion(board, since, is_defined) then
      outdated[#outdated + 1] = board
    end
  end
  return known, outdated
end

local function are_all_known(known)
  for _, board in ipairs(call('HKEYS', live)) do
    if board ~= VERSION and not known[board] then return false end
  end
  return true
end

-- Recovery targets and published positions stay: they come from Kafka, and may only be raised.
local function empty()
  for _, generation in ipairs(call('HKEYS', definitions)) do
    if call('HEXISTS', snapshots, generation) == 0 then call('SADD', discarded, generation) end
  end
  for _, board in ipairs(call('HKEYS', live)) do
    if board ~= VERSION then call('HDEL', live, board) end
  end
  move_version(live)
  call('UNLINK', applied_offsets, registered, records, promotions, shadows, previous)
  for i = outboxes_from, #KEYS do call('UNLINK', KEYS[i]) end -- and the leaders behind them
end

if replication_id() ~= server or call('GET', continuity) ~= begun then return {} end
local known, outdated = read_boards()
if not are_all_known(known) then return {} end

-- Nothing below can fail.
local resynced = format('%s %d', server, math.max(now_in_us(), time_of(begun) + 1))
call('SET', continuity, resynced)
if #outdated > 0 then empty() end
for i = positions_from, boards_from - 1, 2 do
  local partition = ARGV[i]
  local target = tonumber(call('HGET', recovery_targets, partition) or '0')
  local position = math.max(tonumber(ARGV[i + 1]), target)
  local applied = tonumber(call('HGET', applied_offsets, partition) or '-1') + 1
  local stored_position = tonumber(call('HGET', published, partition) or '0')
  local text = format('%d', position)
  if applied < position then call('HSET', recovery_targets, partition, text) end
  if stored_position < position then call('HSET', published, partition, text) end
end
table.insert(outdated, 1, resynced)
return outdated
