-- Applies a run of consecutive offsets of one partition to one shard. May be repeated.
--
-- KEYS  live, applied_offsets, published
--       outbox               of the partition
--       continuity, recovery_targets, records
--       run_keys...          arguments.lua
-- ARGV  partition
--       believed_offset      applied offset that the caller believes in (-1 for none)
--       published_position
--       first_offset, last_offset  of the run
--       believed_continuity  continuity that the caller believes in (shard.lua)
--       last_record          offset, timestamp and hash of the run's last record ('' for none)
--       believed_version     version of the pointers that the caller believes in (shard.lua)
--       run...               arguments.lua
-- Returns  { applied offset, published position, verdicts, ... }: every unpublished verdict of the
--          run, new or stored, and perhaps verdicts of other offsets (verdict.lua). If the call is
--          refused: GENERATION_CHANGED, ROLLED_BACK, STORE_CHANGED, RECOVERING, GAP
-- Cost  O(log players) for each entry and view, whatever the ties; overtook and leaders cost extra
--
-- A run has events and dead letters, or player records of one board, at most one for each player.
-- Until the records are settled (settle.lua), the applied offset stays below them.
--
-- A run covers all its offsets, also offsets without an entry (records of other shards, transaction
-- markers). If a log begins above offset 0, the first call has no entries and begins at 0. Redis
-- does not roll back a script, so it checks everything that can fail before the first write.

-- include shard.lua
-- include return-codes.lua
-- include run.lua
-- include leaders.lua

local function drop_between(first, last)
  if first > last then return end
  call('ZREMRANGEBYSCORE', outbox, format('%d', first), format('%d', last))
end

-- Above the applied offset, the outbox has verdicts of open records only. Deletes the verdicts that
-- an earlier generation has left open, from `first` to `last`: they are never published.
local function drop_left_open(run, first, last)
  local next_offset = first
  for _, record in ipairs(run.records) do
    if record.is_marked then
      drop_between(next_offset, record[OFFSET] - 1)
      next_offset = record[OFFSET] + 1
    end
  end
  drop_between(next_offset, last)
end

local from, last = tonumber(first_offset), tonumber(last_offset)
local run = read_run(run_from, run_keys_from)

local stored_continuity = call('GET', continuity)
if stored_continuity ~= believed_continuity then return STORE_CHANGED end
if not is_continued(stored_continuity) then return STORE_CHANGED end
if (call('HGET', live, VERSION) or '') ~= believed_version then return GENERATION_CHANGED end
local applied_offset = tonumber(call('HGET', applied_offsets, partition) or '-1')
if applied_offset < tonumber(believed_offset) then return ROLLED_BACK end
if from > applied_offset + 1 then return GAP end

local stored_position = tonumber(call('HGET', published, partition) or '0')
local position = math.max(tonumber(published_position), stored_position)
-- No run straddles the published position. A run below it is muted: it writes no verdicts, because
-- its results are published.
local end_of_call = math.max(applied_offset, last)
local unmuted = end_of_call >= position
local target = tonumber(call('HGET', recovery_targets, partition) or '0')

load_run(run, partition, applied_offset, last, unmuted)
-- While a partition is below its recovery target, boards lack published events: ranks may be wrong.
if unmuted and #run.entries > 0 and call('HLEN', recovery_targets) > 0 then return RECOVERING end
load_reports(run.views)
local is_marked, is_open = state_of_records(run, partition)
local last_settled = last
if is_open then last_settled = run.records[1][OFFSET] - 1 end
local through = math.max(applied_offset, last_settled)
run.outbox = unmuted and outbox

-- Only the first write can fail: Redis refuses it if its memory is full. Then nothing is written.
call('HSET', applied_offsets, partition, format('%d', through))
call('HSET', published, partition, format('%d', position))
if last_record ~= '' and through > applied_offset and not is_open then
  call('HSET', records, partition, last_record)
end
if target > 0 and through + 1 >= target then call('HDEL', recovery_targets, partition) end

drop_left_open(run, applied_offset + 1, end_of_call)
local verdicts = stored_verdicts(outbox, math.max(position, from), math.min(applied_offset, last))

apply_run(run, partition)
write_reports(run, unmuted)
verdicts[#verdicts + 1] = keep_verdicts(run.outbox, end_of_call, run.views)
-- An open run publishes nothing. The last call reads its answer from the outbox, so that a repeated
-- call returns the same order.
if is_open then verdicts = {} end
if is_marked and not is_open then
  verdicts = stored_verdicts(outbox, math.max(position, from), last)
end
call('ZREMRANGEBYSCORE', outbox, '-inf', format('(%d', position))
table.insert(verdicts, 1, format('%d', position))
table.insert(verdicts, 1, format('%d', through))
return verdicts
