-- Whether the cursors of a comparison still lead on; needs continuity.lua.
--
-- A cursor is one of the server that gave it: after a restart, or on a replica that took over, it leads elsewhere, and what is left
-- out is never looked at.

local SERVER_CHANGED = -10

-- Whether this is another server than the one with that replication id.
local function is_elsewhere(id)
  return replication_id() ~= id
end
