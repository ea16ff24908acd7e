-- The two values of a shard that every apply call names: the version of its pointers, and its
-- continuity (continuity.lua).
--
-- Version: every change of the live, building, removed or registered boards sets a new one. It is
-- Redis TIME in us, and larger than the previous one, so it never repeats. The identity of the
-- ranklog (JSON, identity-check.ts) follows it in the same field of `live`.

-- include base.lua
-- include continuity.lua

local VERSION = '' -- no board has this name
local BUILDING = '-' -- the pointer of a board whose first generation is being built

-- The time and the identity; '0' and '' if there is no version.
local function read_version(live)
  return string.match(call('HGET', live, VERSION) or '0', '^(%d+) ?(.*)$')
end

-- Sets a new version. Keeps the identity if none is given.
local function move_version(live, identity)
  local before, kept = read_version(live)
  local version = math.max(now_in_us(), tonumber(before) + 1)
  call('HSET', live, VERSION, format('%d %s', version, identity or kept))
end

-- The time in us of a move of the board's pointer: later than the previous move, and than `since`.
local function next_move(promotions, board, since)
  return math.max(now_in_us(), since + 1, tonumber(call('HGET', promotions, board) or '0') + 1)
end

-- Stores the time of a move of the board's pointer, and returns it as text.
local function note_move(promotions, board)
  local now = format('%d', next_move(promotions, board, 0))
  call('HSET', promotions, board, now)
  return now
end
