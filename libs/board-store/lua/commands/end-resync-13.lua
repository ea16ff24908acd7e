-- Ends a resync: a partition below its published position, read after all publishers were fenced,
-- gets this position as its recovery target. An earlier target stays if it is larger.
--
-- A shard that has lost a board's promotion or removal is emptied (but for snapshots) and built
-- again with the definitions in Kafka: results since then come from these, not from those it has.
--
-- KEYS  1 continuity, 2 recovery targets, 3 applied offsets, 4 published, 5 live, 6 registered, 7
--       records, 8 promotions, 9 shadows, 10 previous, 11 definitions, 12 snapshots, 13 discarded,
--       then the outbox of each partition, then the leaders of each board
-- ARGV  1 replication id that the caller saw before the resync, 2 continuity that
--       begin-resync-2.lua returned, 3 number of partitions, then for each partition: its number,
--       published position, then for each board that Redis or Kafka knows: name, time
--       in us of its last promotion or removal in Kafka (0 none), defined (1) or removed (0)
-- Returns  { new continuity, boards with a lost promotion or removal, ... }; {} if the server, the
--          continuity or the boards have changed since: then nothing was written
-- Cost  O(partitions + boards + generations); memory is freed in the background

-- include shard.lua

local last = 3 + 2 * tonumber(ARGV[3])

-- A removed board has no pointer, or BUILDING if it is being built again.
local function has_lost_promotion(board, since, is_defined)
  local pointer = call('HGET', KEYS[5], board)
  if not is_defined and (not pointer or pointer == BUILDING) then return false end
  return tonumber(call('HGET', KEYS[8], board) or '0') < since
end

local function read_boards()
  local known, outdated = {}, {}
  local is_registered = call('EXISTS', KEYS[6]) == 1
  for i = last + 1, #ARGV, 3 do
    known[ARGV[i]] = true
    if is_registered and has_lost_promotion(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2] == '1') then
      outdated[#outdated + 1] = ARGV[i]
    end
  end
  return known, outdated
end

local function are_all_known(known)
  for _, board in ipairs(call('HKEYS', KEYS[5])) do
    if board ~= VERSION and not known[board] then return false end
  end
  return true
end

-- Recovery targets and published positions stay: they come from Kafka, and may only be raised.
local function empty()
  for _, generation in ipairs(call('HKEYS', KEYS[11])) do
    if call('HEXISTS', KEYS[12], generation) == 0 then call('SADD', KEYS[13], generation) end
  end
  for _, board in ipairs(call('HKEYS', KEYS[5])) do
    if board ~= VERSION then call('HDEL', KEYS[5], board) end
  end
  move_version(KEYS[5])
  for _, i in ipairs({ 3, 6, 7, 8, 9, 10 }) do call('UNLINK', KEYS[i]) end
  for i = 14, #KEYS do call('UNLINK', KEYS[i]) end
end

local id = replication_id()
if id ~= ARGV[1] or call('GET', KEYS[1]) ~= ARGV[2] then return {} end
local known, outdated = read_boards()
if not are_all_known(known) then return {} end

-- Nothing below can fail.
local continuity = format('%s %d', id, math.max(now_in_us(), time_of(ARGV[2]) + 1))
call('SET', KEYS[1], continuity)
if #outdated > 0 then empty() end
for i = 4, last, 2 do
  local partition = ARGV[i]
  local target = tonumber(call('HGET', KEYS[2], partition) or '0')
  local position = math.max(tonumber(ARGV[i + 1]), target)
  local applied = tonumber(call('HGET', KEYS[3], partition) or '-1') + 1
  local published = tonumber(call('HGET', KEYS[4], partition) or '0')
  if applied < position then call('HSET', KEYS[2], partition, format('%d', position)) end
  if published < position then call('HSET', KEYS[4], partition, format('%d', position)) end
end
table.insert(outdated, 1, continuity)
return outdated
