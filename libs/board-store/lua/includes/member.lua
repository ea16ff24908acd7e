-- The member of a player in a ranking: 8 bytes for each further column, 7 bytes for the reach time
-- if it breaks ties, the player id. Bytewise order is the order of the players.
-- test/model/oracle-format.ts computes the member in another way.

-- include base.lua

local TWO_POW_53 = 9007199254740992
local EARLIEST_TIME = -62135596800000
local LATEST_TIME = 253402300799999

local function member_of(tie, state, player)
  local columns = ''
  local reached = state[2]
  for i = 4, #state, 3 do
    local value = state[i]
    local time = state[i + 1]
    local sign, rest = 1, value
    if value < 0 then sign, rest = 0, value + TWO_POW_53 end
    columns = columns .. pack('>BI7', sign, rest)
    if time > reached then reached = time end
  end
  if tie == 0 then return columns .. player end
  local time = tie > 0 and reached - EARLIEST_TIME or LATEST_TIME - reached
  local rest = pack('>I7c0', time, player)
  return columns == '' and rest or columns .. rest
end
