-- Who may write to the shadow of a board: whoever's token the lease holds. It runs out by itself.

local LEASE_LOST = -5
local SHADOW_GONE = -6
local NO_ORDER = -7

-- The third word of a shadow whose rankings are not kept up: see order.lua.
local UNORDERED = 'unordered'

local function holds_lease(lease, token)
  return call('GET', lease) == token
end

-- What `shadows` holds, else nil: generation, purpose, and either until when one that is brought back is kept (ms), or that it
-- is unordered.
local function shadow_of(shadows, board)
  local text = call('HGET', shadows, board)
  if not text then return nil end
  local generation, purpose, rest = string.match(text, '^(%S+) (%S+) ?(%S*)$')
  return { generation = generation, purpose = purpose, kept_until = rest, is_unordered = rest == UNORDERED }
end
