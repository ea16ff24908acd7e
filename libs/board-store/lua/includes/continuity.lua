-- Continuity: the replication id of the server on which the shard was last resynced, and the time
-- of the resync. A restarted server or a promoted replica has another id, and may have lost
-- acknowledged writes. During a resync, the continuity names no server. Its time only grows.

-- include base.lua

local RESYNCING = 'comparing' -- in place of the replication id, during a resync

local function replication_id()
  -- Finding a plain text takes a thirtieth of the time of a pattern.
  local _, before = string.find(replication, 'master_replid:', 1, true)
  local id = before and string.match(replication, '^%x+', before + 1)
  if not id then error('INFO has no master_replid, so ranklog cannot notice a loss of data') end
  return id
end

-- Whether a continuity names this server.
local function is_continued(continuity)
  return continuity and string.match(continuity, '^%x+ ') == replication_id() .. ' '
end

local function time_of(continuity)
  return tonumber(string.match(continuity, ' (%d+)$') or '0')
end
