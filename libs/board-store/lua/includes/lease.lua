-- The lease of a board: the process whose token it has may write to the shadow. A lease expires.

-- include base.lua
-- include return-codes.lua

local function holds_lease(lease, token)
  return call('GET', lease) == token
end

-- Whether a shadow has no rankings (yet): see catch-up.lua.
local function is_unranked(shadow)
  return shadow.purpose == 'verify' or shadow.purpose == 'unranked'
end

-- The shadow of a board, or nil. `kept_until` is the end of its grace time in ms, for a rollback.
local function shadow_of(shadows, board)
  local text = call('HGET', shadows, board)
  if not text then return nil end
  local generation, purpose, kept_until = string.match(text, '^(%S+) (%S+) ?(%S*)$')
  return { generation = generation, purpose = purpose, kept_until = kept_until }
end
