-- Applies a run of consecutive offsets of one partition to one shard, in one atomic step; may be repeated at will.
--
-- KEYS  1 live, 2 applied offsets, 3 published, 4 outbox of the partition, 5 continuity, 6 recovery, 7 records, then the run
-- ARGV  1 partition, 2 believed applied offset (-1: none), 3 published position, 4 offset that the run begins at, 5 its last offset,
--       6 continuity that the caller believes in, 7 offset, timestamp and hash of the last record of the run (empty when it has none),
--       8 version of the shard's pointers that the caller believes in (see pointers.lua); then the run: see arguments.lua
-- Returns  { applied offset, verdicts, ... } of every offset of the run that has one, also where it is no entry any more; see verdict.lua
--          -1 GENERATION_CHANGED, -2 ROLLED_BACK, -3 STORE_CHANGED, -4 RECOVERING, -12 GAP; then nothing was written
-- Cost  O(log players) for each entry and view, whatever the ties and the number of boards; overtook and leaders add what they name
--
-- A run covers all its offsets, also those without a record of ours (transaction markers, aborted records). It begins at most one
-- offset after the applied offset. If a log begins above 0, a call without entries from 0 comes first.
--
-- A script is not rolled back: all that can fail is read and checked before the first write.

-- include names.lua
-- include clock.lua
-- include pointers.lua
-- include continuity.lua
-- include chunks.lua
-- include state.lua
-- include rank.lua
-- include verdict.lua
-- include arguments.lua
-- include event-ids.lua
-- include board.lua
-- include leaders.lua
-- include event.lua
-- include run.lua

local GENERATION_CHANGED = -1
local ROLLED_BACK = -2
local STORE_CHANGED = -3
local RECOVERING = -4

local HEAD, KEYS_OF_HEAD = 8, 7
local partition, from, last = ARGV[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local run = read_run(HEAD, KEYS_OF_HEAD)
local entries = run.entries

local function has_news(applied_offset)
  return #entries > 0 and entries[#entries].offset > applied_offset
end

local continuity = call('GET', KEYS[5])
if continuity ~= ARGV[6] or not is_continued(continuity) then return STORE_CHANGED end
if (call('HGET', KEYS[1], VERSION) or '') ~= ARGV[8] then return GENERATION_CHANGED end
local applied_offset = tonumber(call('HGET', KEYS[2], partition) or '-1')
if applied_offset < tonumber(ARGV[2]) then return ROLLED_BACK end
if leaves_gap(from, applied_offset) then return GAP end

local published = math.max(tonumber(ARGV[3]), tonumber(call('HGET', KEYS[3], partition) or '0'))
local through = math.max(applied_offset, last)
-- A call never straddles the published position: it is muted as a whole, or not at all.
local unmuted = through >= published
-- While a partition is below its recovery target, the boards lack events that were published: no rank is drawn from them.
local target = tonumber(call('HGET', KEYS[6], partition) or '0')
if unmuted and has_news(applied_offset) and call('HLEN', KEYS[6]) > 0 then return RECOVERING end
local verdicts = stored_verdicts(KEYS[4], math.max(published, from), math.min(applied_offset, last))

load_run(run, partition, applied_offset, math.huge, unmuted)
load_reports(run.views)

-- Nothing below can fail. The first write is one that Redis refuses when memory is full.
call('HSET', KEYS[2], partition, format('%d', through))
call('HSET', KEYS[3], partition, format('%d', published))
if ARGV[7] ~= '' and through > applied_offset then call('HSET', KEYS[7], partition, ARGV[7]) end
if target > 0 and through + 1 >= target then call('HDEL', KEYS[6], partition) end

apply_run(run, partition)
write_reports(run.boards, unmuted)
if unmuted and parts > 0 then
  local text = written_verdicts()
  call('ZADD', KEYS[4], format('%d', through), text)
  verdicts[#verdicts + 1] = text
end
call('ZREMRANGEBYSCORE', KEYS[4], '-inf', format('(%d', published))
table.insert(verdicts, 1, format('%d', through))
return verdicts
