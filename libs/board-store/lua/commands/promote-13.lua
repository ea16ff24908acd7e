-- Ends a build or a rollback: brings the shadow to the live applied offsets and, once it is there,
-- makes it live. The live generation becomes the previous one; an older previous one is discarded.
-- Before the promotion, a build has to be ranked (rank-shadow-4.lua), player records have to be
-- settled (settle.lua), and the shadow has to take over the player records from before its start.
--
-- KEYS  those of catch-up.lua, live, promotions, previous, discarded, removed, shadow_facts,
--       live_facts
--       previous_applied_offsets  of the generation that becomes the previous one
--       leaders, stretch_keys...
-- ARGV  those of catch-up.lua
--       believed_live  live generation that the caller believes in ('-' for none yet)
--       grace_ms       grace time for a rollback
--       leader_count   N of the shadow's top N
--       taken_over     JSON: partition -> live applied offset when the shadow took over the player
--                      records of live ingest; only partitions whose offset was below the
--                      shadow's start
--       stretches...
-- Returns  progress_in(the partitions with a live applied offset) and, when caught up, the time in
--          us of the promotion, or 'unranked', 'unsettled' or 'missed' (records that have to be
--          taken over); GENERATION_CHANGED, LEASE_LOST, SHADOW_GONE, GAP
-- Cost  as apply-7.lua, without ranks, and O(partitions + unsettled records)

-- include shard.lua
-- include catch-up.lua

-- The largest view version of the live generation: the versions of the shadow continue above it.
local function largest_version()
  local facts = call('HMGET', live_facts, 'floor', 'version')
  return math.max(tonumber(facts[1]) or 0, tonumber(facts[2]) or 0)
end

local function keep_live_as_previous()
  local before = call('HGET', previous, board)
  if before then call('SADD', discarded, string.match(before, '^%S+')) end
  local kept_until = now_in_us() / 1000 + tonumber(grace_ms)
  call('HSET', previous, board, format('%s %d', believed_live, kept_until))
  call('DEL', previous_applied_offsets)
  call_in_chunks('HSET', previous_applied_offsets, call('HGETALL', applied_offsets))
end

local function has_unsettled(facts)
  return next(unsettled_players(facts)) ~= nil
end

-- Whether live ingest has applied records below the shadow's start since they were taken over.
local function has_missed()
  for partition, offset in pairs(cjson.decode(taken_over)) do
    if applied_offset_of(applied_offsets, partition) ~= offset then return true end
  end
  return false
end

local function promote()
  local floor = math.max(largest_version(), now_in_us())
  if believed_live ~= BUILDING then keep_live_as_previous() end
  call('HSET', live, board, generation)
  call('HSET', shadow_facts, 'floor', format('%d', floor))
  call('HDEL', shadows, board)
  call('SREM', removed, board)
  call('DEL', shadow_applied_offsets)
  -- A definition without leaders needs no reports. While a record of the live generation is
  -- unsettled, the last reports may be of this record: then they were never published.
  if leader_count == '0' or has_unsettled(live_facts) then call('UNLINK', leaders) end
  move_version(live)
  return note_move(promotions, board)
end

local stored_live = call('HGET', live, board) or BUILDING
-- Promoted before; the reply was lost.
if stored_live == generation then return { 1, 0, call('HGET', promotions, board) } end
if stored_live ~= believed_live then return GENERATION_CHANGED end
local _, refused = catch_up()
if refused then return refused end
local reply, is_caught_up = progress_in(call('HKEYS', applied_offsets))
if not is_caught_up then return reply end
local purpose = shadow_of(shadows, board).purpose
local is_ranked = purpose == 'build' or purpose == 'rollback'
if not is_ranked then
  reply[#reply + 1] = 'unranked'
elseif has_missed() then
  reply[#reply + 1] = 'missed'
elseif has_unsettled(shadow_facts) then
  reply[#reply + 1] = 'unsettled'
else
  reply[#reply + 1] = promote()
end
return reply
