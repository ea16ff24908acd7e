-- Who may write to the shadow of a board: whoever's token the lease holds. It runs out by itself.

local LEASE_LOST = -5
local SHADOW_GONE = -6

local function holds_lease(lease, token)
  return call('GET', lease) == token
end

-- What `shadows` holds, else nil: generation and purpose; during a rollback also until when the generation is kept (ms).
local function shadow_of(shadows, board)
  local text = call('HGET', shadows, board)
  if not text then return nil end
  local generation, purpose, kept_until = string.match(text, '^(%S+) (%S+) ?(%S*)$')
  return { generation = generation, purpose = purpose, kept_until = kept_until }
end
