-- A lease of a board lets one process write to the shadow of the board: the process that has the
-- token of the lease. A lease expires.

-- include base.lua
-- include return-codes.lua

local function holds_lease(lease, token)
  return call('GET', lease) == token
end

-- Whether a shadow has no rankings (yet): see catch-up.lua.
local function is_unranked(shadow)
  return shadow.purpose == 'verify' or shadow.purpose == 'unranked'
end

-- Returns the shadow of a board, or nil. `kept_until` is set for a rollback only: it is the end of
-- the grace time in ms.
local function shadow_of(shadows, board)
  local text = call('HGET', shadows, board)
  if not text then return nil end
  local generation, purpose, kept_until = string.match(text, '^(%S+) (%S+) ?(%S*)$')
  return { generation = generation, purpose = purpose, kept_until = kept_until }
end
