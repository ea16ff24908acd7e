-- Ends a build or a rollback: brings the shadow to the live applied offsets and, once it is there,
-- makes it live. The live generation becomes the previous one; an older previous one is discarded.
-- A build has to be ranked first (rank-shadow-3.lua).
--
-- KEYS  1 to 5 as in catch-up.lua, 6 promotions, 7 previous, 8 discarded, 9 removed, 10 facts of
--       the shadow, 11 facts of the live generation, 12 its applied offsets, 13 leaders of the
--       board, then those of the stretches
-- ARGV  1 to 4 as in catch-up.lua, 5 live generation that the caller believes in ('-' for none
--       yet), 6 grace time for a rollback in ms, 7 N of the shadow's top N, then the stretches
-- Returns  progress_in(the partitions with a live applied offset) and, when caught up, the time in
--          us of the promotion, or 'unranked'; GENERATION_CHANGED, LEASE_LOST, SHADOW_GONE, GAP
-- Cost  as apply-7.lua, without ranks, and O(partitions)

-- include shard.lua
-- include catch-up.lua

-- The largest view version of the live generation: those of the shadow continue above it.
local function largest_version()
  local facts = call('HMGET', KEYS[11], 'floor', 'version')
  return math.max(tonumber(facts[1]) or 0, tonumber(facts[2]) or 0)
end

local function keep_as_previous(board, generation, applied_offsets)
  local before = call('HGET', KEYS[7], board)
  if before then call('SADD', KEYS[8], string.match(before, '^%S+')) end
  call('HSET', KEYS[7], board, format('%s %d', generation, now_in_us() / 1000 + tonumber(ARGV[6])))
  call('DEL', KEYS[12])
  call_in_chunks('HSET', KEYS[12], applied_offsets)
end

local function promote(board, shadow, live)
  local floor = math.max(largest_version(), now_in_us())
  if live ~= BUILDING then keep_as_previous(board, live, call('HGETALL', KEYS[4])) end
  call('HSET', KEYS[3], board, shadow)
  call('HSET', KEYS[10], 'floor', format('%d', floor))
  call('HDEL', KEYS[2], board)
  call('SREM', KEYS[9], board)
  call('DEL', KEYS[5])
  if ARGV[7] == '0' then call('UNLINK', KEYS[13]) end -- the new definition has no leader reports
  move_version(KEYS[3])
  return note_move(KEYS[6], board)
end

local live = call('HGET', KEYS[3], ARGV[2]) or BUILDING
-- Promoted before; the reply was lost.
if live == ARGV[3] then return { 1, 0, call('HGET', KEYS[6], ARGV[2]) } end
if live ~= ARGV[5] then return GENERATION_CHANGED end
local _, refused = catch_up(13, 7)
if refused then return refused end
local reply, is_caught_up = progress_in(call('HKEYS', KEYS[4]))
if not is_caught_up then return reply end
local purpose = shadow_of(KEYS[2], ARGV[2]).purpose
local is_ranked = purpose == 'build' or purpose == 'rollback'
reply[#reply + 1] = is_ranked and promote(ARGV[2], ARGV[3], ARGV[5]) or 'unranked'
return reply
