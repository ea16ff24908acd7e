-- Whether a shard is still what it was when it was last compared with Kafka; needs names.lua.
--
-- A server that was restarted, or a replica that took over, has another replication id, and may have lost acknowledged
-- writes. The continuity of a shard names the server that holds it and the moment of the comparison; whoever believes in
-- another one has to look first. While it is being compared, it names no server. Its times only grow.

local COMPARING = 'comparing'

local function replication_id()
  local id = string.match(call('INFO', 'replication'), 'master_replid:(%x+)')
  if not id then error('INFO replication tells no master_replid: ranklog could not notice what Redis loses') end
  return id
end

local function is_continued(continuity)
  return continuity and string.match(continuity, '^%x+ ') == replication_id() .. ' '
end

local function time_of(continuity)
  return tonumber(string.match(continuity, ' (%d+)$') or '0')
end
