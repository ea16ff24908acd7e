-- Whether a shard is still what it was when it was last compared with Kafka; needs names.lua.
--
-- A server that was restarted, or a replica that took over, has another replication id, and may have lost acknowledged
-- writes. The continuity of a shard names the server that holds it and the moment of the comparison; whoever believes in
-- another one has to look first.

local function replication_id()
  return string.match(call('INFO', 'replication'), 'master_replid:(%x+)') or ''
end

local function is_continued(continuity)
  return continuity and string.match(continuity, '^%x*') == replication_id()
end
