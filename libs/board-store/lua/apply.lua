-- Applies a run of consecutive offsets of one partition to one shard, in one atomic step; may be repeated at will.
--
-- KEYS  1 live, 2 watermarks, 3 published, 4 outbox of the partition,
--       then for each board: views, facts, expiries, event ids of the partition, leaders; then for each view: ranking, players
-- ARGV  1 partition, 2 believed watermark (-1: none), 3 published position, 4 last offset of the run,
--       5 number of live boards, 6 of boards, 7 of views, 8 of entries, then
--       live:    all boards that the caller believes live in the shard: name, generation
--       boards:  those that entries are about: number in live, updates (a letter a column: s b l), tie (1 earliest, -1 latest, 0 none),
--                columns (JSON), rank changes (e every, m moved, n none), overtook, leaders, most views,
--                late events are dead letters (1, 0), some view may expire (1, 0), span of event ids in ms (- none)
--       views:   number of its board, text, ms at which it expires (- never), published (1, 0)
--       entries: offset, number of its board (0: dead letter), player id | code, occurredAt in ms | detail,
--                value per column in sort direction (. for none) | empty,
--                numbers of its views, then, with a span, newline and event id | empty
-- Returns  { watermark, verdict, ... } for every entry that has a verdict; see verdict.lua
--          -1 GENERATION_CHANGED, -2 ROLLED_BACK; then nothing was written
-- Cost  O(log players) for each entry and view; a tie of k players in all columns adds O(log k log players);
--       overtook and leaders add what they name
--
-- A script is not rolled back: all that can fail is read and checked before the first write.

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

local partition = ARGV[1]
local live, boards, views, entries = read_arguments()

if redis.call('HLEN', KEYS[1]) ~= #live then return GENERATION_CHANGED end
for _, board in ipairs(live) do
  if redis.call('HGET', KEYS[1], board.name) ~= board.generation then return GENERATION_CHANGED end
end
local watermark = tonumber(redis.call('HGET', KEYS[2], partition) or '-1')
if watermark < tonumber(ARGV[2]) then return ROLLED_BACK end

local published = math.max(tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[3], partition) or '0'))
local through = math.max(watermark, tonumber(ARGV[4]))
-- A call never straddles the published position: it is muted as a whole, or not at all.
local unmuted = through >= published
local verdicts = stored_verdicts(entries, watermark, published)

redis.call('ZCARD', KEYS[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
for _, board in ipairs(boards) do load_board(board, partition) end
for _, view in ipairs(views) do load_view(view, now, unmuted) end
for _, entry in ipairs(entries) do
  if entry.board and entry.offset > watermark then
    load_states(entry)
    load_event_id(entry)
  end
end

-- Nothing below can fail. The first write is one that Redis refuses when memory is full.
redis.call('HSET', KEYS[2], partition, string.format('%.0f', through))
redis.call('HSET', KEYS[3], partition, string.format('%.0f', published))

local function keep(offset_text, verdict)
  local text = offset_text .. '\n' .. verdict
  redis.call('ZADD', KEYS[4], offset_text, text)
  verdicts[#verdicts + 1] = text
end

for _, entry in ipairs(entries) do
  if entry.offset > watermark then
    local verdict
    if entry.board then verdict = apply_event(entry, unmuted) else verdict = dead_letter(entry.player, entry.detail) end
    if verdict and unmuted then keep(entry.text, verdict) end
  end
end
for _, board in ipairs(boards) do
  for _, view in ipairs(board.moved) do
    local change = view.reported and leader_change(view)
    if change then keep(view.cause, change) end
  end
  store_board(board, partition)
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', string.format('(%.0f', published))
table.insert(verdicts, 1, string.format('%.0f', through))
return verdicts
