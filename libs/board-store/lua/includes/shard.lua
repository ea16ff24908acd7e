-- Every apply call names two values of its shard: the version of the pointers, and the continuity
-- (continuity.lua).
--
-- Every change of the live, building, removed or registered boards sets a new version. A version is
-- Redis TIME in us, or the previous version + 1 if that is larger, so it never repeats. The same
-- field of `live` also has the identity of the ranklog, after a space (JSON, identity-check.ts).

-- include base.lua
-- include continuity.lua

local VERSION = '' -- no board has this name
local BUILDING = '-' -- the pointer of a board whose first generation is being built

-- Returns the time in the version, and the identity; '0' and '' if there is no version.
local function read_version(live)
  return string.match(call('HGET', live, VERSION) or '0', '^(%d+) ?(.*)$')
end

-- Sets a new version. Keeps the identity if none is given.
local function move_version(live, identity)
  local before, kept = read_version(live)
  local version = math.max(now_in_us(), tonumber(before) + 1)
  call('HSET', live, VERSION, format('%d %s', version, identity or kept))
end

-- The time in us for the next move of the board's pointer: later than the move before, and than
-- `since`.
local function next_move(promotions, board, since)
  return math.max(now_in_us(), since + 1, tonumber(call('HGET', promotions, board) or '0') + 1)
end

-- Stores the time of a move of the board's pointer, and returns it as text.
local function note_move(promotions, board)
  local now = format('%d', next_move(promotions, board, 0))
  call('HSET', promotions, board, now)
  return now
end
