-- Applies a run of consecutive offsets of one partition to one shard, in one atomic step; may be repeated at will.
--
-- KEYS  1 live, 2 watermarks, 3 published, 4 outbox of the partition,
--       then for each board: views; then for each view: ranking, players
-- ARGV  1 partition, 2 believed watermark (-1: none), 3 published position, 4 last offset of the run,
--       5 number of boards, 6 number of views, 7 number of entries, then
--       boards:  all that the caller believes live in the shard: name, generation, updates (a letter a column: s b l), tie (1 earliest, -1 latest, 0 none), columns (JSON)
--       views:   number of its board, text
--       entries: offset, number of its board (0: dead letter), player id | code, occurredAt in ms | detail,
--                value per column in sort direction (. for none) | empty, numbers of its views | empty
-- Returns  { watermark, offset, verdict, ... } for every entry that has a verdict; see verdict.lua
--          -1 GENERATION_CHANGED, -2 ROLLED_BACK; then nothing was written
-- Cost  O(log players) for each entry and view; a tie of k players in all columns adds O(log k log players)
--
-- A script is not rolled back: all that can fail is read and checked before the first write.

-- include state.lua
-- include rank.lua
-- include verdict.lua
-- include arguments.lua

local GENERATION_CHANGED = -1
local ROLLED_BACK = -2

local partition = ARGV[1]
local boards, views, entries = read_arguments()

if redis.call('HLEN', KEYS[1]) ~= #boards then return GENERATION_CHANGED end
for _, board in ipairs(boards) do
  if redis.call('HGET', KEYS[1], board.name) ~= board.generation then return GENERATION_CHANGED end
end
local watermark = tonumber(redis.call('HGET', KEYS[2], partition) or '-1')
if watermark < tonumber(ARGV[2]) then return ROLLED_BACK end

local published = math.max(tonumber(ARGV[3]), tonumber(redis.call('HGET', KEYS[3], partition) or '0'))
local through = math.max(watermark, tonumber(ARGV[4]))
local verdicts = stored_verdicts(entries, watermark, published)

redis.call('ZCARD', KEYS[4])
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
for _, view in ipairs(views) do load_view(view, now) end
for _, entry in ipairs(entries) do
  if entry.board and entry.offset > watermark then load_states(entry) end
end

-- Nothing below can fail. The first write is one that Redis refuses when memory is full.
redis.call('HSET', KEYS[2], partition, string.format('%.0f', through))
redis.call('HSET', KEYS[3], partition, string.format('%.0f', published))

-- The next state in each view, or nil and true when a sum would leave the exact range: then no view changes.
local function next_states(entry)
  local states, changed = {}, false
  for i, view in ipairs(entry.views) do
    local state, overflow = merge(view.board.updates, view.states[entry.player], entry.values, entry.time)
    if overflow then return nil, true end
    states[i] = state
    changed = changed or state ~= nil
  end
  return changed and states or nil, false
end

local function move(view, player, state)
  local old = view.states[player]
  local member = member_of(view.board, state, player)
  if old and old.member ~= member then redis.call('ZREM', view.ranking, old.member) end
  redis.call('ZADD', view.ranking, state[1], member)
  redis.call('HSET', view.players, player, state_text(state))
  state.member = member
  view.states[player] = state
  if not view.moved then
    view.moved = true
    redis.call('HSET', view.versions, view.text, view.version)
  end
end

local function apply_event(entry, muted)
  local states, overflow = next_states(entry)
  if overflow then return dead_letter('SUM_OUT_OF_RANGE', 'a sum of ' .. entry.board.name .. ' would leave +-(2^53-1) minor units') end
  if not states then return nil end
  local changes = {}
  for i, view in ipairs(entry.views) do
    if states[i] then
      local before = not muted and placing(view, view.states[entry.player]) or nil
      move(view, entry.player, states[i])
      if not muted then changes[#changes + 1] = view_change(view, before, placing(view, states[i])) end
    end
  end
  return rank_change(entry.board, changes)
end

for _, entry in ipairs(entries) do
  if entry.offset > watermark then
    local muted = entry.offset < published
    local verdict
    if entry.board then
      verdict = apply_event(entry, muted)
    else
      verdict = dead_letter(entry.player, entry.detail)
    end
    if verdict and not muted then
      redis.call('ZADD', KEYS[4], entry.offset, entry.text .. '\n' .. verdict)
      verdicts[#verdicts + 1] = entry.text .. '\n' .. verdict
    end
  end
end
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', string.format('(%.0f', published))
table.insert(verdicts, 1, string.format('%.0f', through))
return verdicts
