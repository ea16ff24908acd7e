-- Applies a run of consecutive offsets of one partition to one shard. May be repeated.
--
-- KEYS  1 live, 2 applied offsets, 3 published, 4 outbox of the partition, 5 continuity, 6 recovery
--       targets, 7 records, then the run
-- ARGV  1 partition, 2 applied offset that the caller believes in (-1 none), 3 published position,
--       4 first offset of the run, 5 its last offset, 6 continuity that the caller believes in, 7
--       offset, timestamp and hash of the run's last record (empty if it has none), 8 version of
--       the pointers that the caller believes in (6 and 8: shard.lua), then the run (arguments.lua)
-- Returns  { applied offset, published position, verdicts, ... }: all of the run, applied now or
--          before, and some of other offsets (verdict.lua); GENERATION_CHANGED, ROLLED_BACK,
--          STORE_CHANGED, RECOVERING, GAP
-- Cost  O(log players) for each entry and view, whatever the ties; overtook and leaders cost extra
--
-- A run covers all its offsets, also those without an entry (records of other shards, transaction
-- markers). If a log begins above offset 0, the first call has no entries and begins at 0. Redis
-- does not roll back a script, so everything that can fail is checked before the first write.

-- include shard.lua
-- include return-codes.lua
-- include run.lua
-- include leaders.lua

local ARGV_BEFORE_RUN, KEYS_BEFORE_RUN = 8, 7
local partition, from, last = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local run = read_run(ARGV_BEFORE_RUN, KEYS_BEFORE_RUN)

local continuity = call('GET', KEYS[5])
if continuity ~= ARGV[6] or not is_continued(continuity) then return STORE_CHANGED end
if (call('HGET', KEYS[1], VERSION) or '') ~= ARGV[8] then return GENERATION_CHANGED end
local applied_offset = tonumber(call('HGET', KEYS[2], partition) or '-1')
if applied_offset < tonumber(ARGV[2]) then return ROLLED_BACK end
if from > applied_offset + 1 then return GAP end

local published = math.max(tonumber(ARGV[3]), tonumber(call('HGET', KEYS[3], partition) or '0'))
local through = math.max(applied_offset, last)
-- A call never straddles the published position: it is muted as a whole, or not at all.
local unmuted = through >= published
local target = tonumber(call('HGET', KEYS[6], partition) or '0')
local verdicts = stored_verdicts(KEYS[4], math.max(published, from), math.min(applied_offset, last))

load_run(run, partition, applied_offset, last, unmuted)
-- While a partition is below its recovery target, boards lack published events: ranks may be wrong.
if unmuted and #run.entries > 0 and call('HLEN', KEYS[6]) > 0 then return RECOVERING end
load_reports(run.views)

-- Nothing below can fail. The first write is one that Redis refuses when its memory is full.
call('HSET', KEYS[2], partition, format('%d', through))
call('HSET', KEYS[3], partition, format('%d', published))
if ARGV[7] ~= '' and through > applied_offset then call('HSET', KEYS[7], partition, ARGV[7]) end
if target > 0 and through + 1 >= target then call('HDEL', KEYS[6], partition) end

apply_run(run, partition)
write_reports(run.boards, unmuted)
if unmuted and #written > 0 then
  verdicts[#verdicts + 1] = table.concat(written)
  call('ZADD', KEYS[4], format('%d', through), verdicts[#verdicts])
end
call('ZREMRANGEBYSCORE', KEYS[4], '-inf', format('(%d', published))
return { format('%d', through), format('%d', published), unpack(verdicts) }
