-- Applies a run of consecutive offsets of one partition to one shard, in one atomic step; may be repeated at will.
--
-- KEYS  1 live, 2 watermarks, 3 published, 4 outbox of the partition, 5 continuity, 6 healing, 7 records,
--       then for each board: views, facts, expiries, event ids of the partition, leaders; then for each view: ranking, players
-- ARGV  1 partition, 2 believed watermark (-1: none), 3 published position, 4 last offset of the run,
--       5 number of live boards, 6 of boards, 7 of views, 8 of entries, 9 continuity that the caller believes in,
--       10 offset, timestamp and hash of the last record of the run (empty when it has none), then
--       live:    all boards that the caller believes live in the shard: name, generation
--       boards:  those that entries are about: number in live, updates (a letter a column: s b l), tie (1 earliest, -1 latest, 0 none),
--                columns (JSON), rank changes (e every, m moved, n none), overtook, leaders, most views,
--                late events are dead letters (1, 0), some view may expire (1, 0), span of event ids in ms (- none)
--       views:   number of its board, text, ms at which it expires (- never), published (1, 0)
--       entries: offset, number of its board (0: dead letter), player id | code, occurredAt in ms | detail,
--                value per column in sort direction (. for none) | empty,
--                numbers of its views, then, with a span, newline and event id | empty
-- Returns  { watermark, verdicts, ... } of every entry that has one; see verdict.lua
--          -1 GENERATION_CHANGED, -2 ROLLED_BACK, -3 STORE_CHANGED, -4 HEALING; then nothing was written
-- Cost  O(log players) for each entry and view; a tie of k players in all columns adds O(log k log players);
--       overtook and leaders add what they name
--
-- A script is not rolled back: all that can fail is read and checked before the first write.

-- include names.lua
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

local GENERATION_CHANGED = -1
local ROLLED_BACK = -2
local STORE_CHANGED = -3
local HEALING = -4

local partition = ARGV[1]
local live, boards, views, entries = read_arguments()

local function has_news(watermark)
  return #entries > 0 and entries[#entries].offset > watermark
end

local continuity = call('GET', KEYS[5])
if continuity ~= ARGV[9] or not is_continued(continuity) then return STORE_CHANGED end
if call('HLEN', KEYS[1]) ~= #live then return GENERATION_CHANGED end
for _, board in ipairs(live) do
  if call('HGET', KEYS[1], board.name) ~= board.generation then return GENERATION_CHANGED end
end
local watermark = tonumber(call('HGET', KEYS[2], partition) or '-1')
if watermark < tonumber(ARGV[2]) then return ROLLED_BACK end

local published = math.max(tonumber(ARGV[3]), tonumber(call('HGET', KEYS[3], partition) or '0'))
local through = math.max(watermark, tonumber(ARGV[4]))
-- A call never straddles the published position: it is muted as a whole, or not at all.
local unmuted = through >= published
-- While a partition is below its heal target, the boards lack events that were published: no rank is drawn from them.
if unmuted and has_news(watermark) and call('HLEN', KEYS[6]) > 0 then return HEALING end
local target = tonumber(call('HGET', KEYS[6], partition) or '0')
local verdicts = stored_verdicts(KEYS[4], entries, published, math.min(watermark, tonumber(ARGV[4])))

call('ZCARD', KEYS[4])
call('HLEN', KEYS[7])
local now = now_in_us()
for _, board in ipairs(boards) do load_board(board, partition) end
for _, view in ipairs(views) do load_view(view, now, unmuted) end
for _, entry in ipairs(entries) do
  if entry.board and entry.offset > watermark then
    want_states(entry)
    load_event_id(entry)
  end
end
for _, view in ipairs(views) do load_states(view) end

-- Nothing below can fail. The first write is one that Redis refuses when memory is full.
call('HSET', KEYS[2], partition, format('%d', through))
call('HSET', KEYS[3], partition, format('%d', published))
if ARGV[10] ~= '' and through > watermark then call('HSET', KEYS[7], partition, ARGV[10]) end
if target > 0 and through + 1 >= target then call('HDEL', KEYS[6], partition) end

for _, entry in ipairs(entries) do
  if entry.offset > watermark then
    if entry.board then apply_event(entry) else write_dead_letter(entry, entry.code, entry.detail) end
  end
end
for _, board in ipairs(boards) do
  for _, view in ipairs(board.moved) do
    store_view(view)
    if view.reported then
      if unmuted then write_leader_change(view) else forget_report(view) end
    end
  end
  store_board(board, partition)
end
if unmuted and parts > 0 then
  local text = written_verdicts()
  call('ZADD', KEYS[4], format('%d', through), text)
  verdicts[#verdicts + 1] = text
end
call('ZREMRANGEBYSCORE', KEYS[4], '-inf', format('(%d', published))
table.insert(verdicts, 1, format('%d', through))
return verdicts
