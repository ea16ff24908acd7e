-- A verdict is a result or a dead letter, as bytes that can be read without the definition: see
-- verdicts.ts. A head names the view of the verdicts that follow it. Each begins with its kind (B);
-- a text follows its length:
--   HEAD         number (H), generation (B), columns (JSON; I4), view (I4), version (d), number of
--                ranks in a place (B)
--   CHANGE       offset (d), number of the head (H), 1 if the player was in the view before (B);
--                places before (if so) and after: rank, competition rank (if published), columns in
--                sort direction (d each); number of passed players (B), for each: new rank
--                (d), id (B). An event that moves several views has several changes
--   LEADERS      offset (d), number of the head (H), version of the view at the last report (d; NaN
--                for none), top, top before (leaders.lua; I4 each)
--   DEAD_LETTER  offset (d), code (B), detail (I4)
-- The verdicts of a call are a member of the outbox, scored by the call's last offset.

-- include base.lua

local HEAD, CHANGE, LEADERS, DEAD_LETTER = 0, 1, 2, 3

local written, parts = {}, 0

local function write(bytes)
  parts = parts + 1
  written[parts] = bytes
end

local function write_head(view)
  local board = view.board
  local generation, columns, text = board.generation, board.columns, view.text
  write(pack('>BHBc0I4c0I4c0dB', HEAD, view.number, #generation, generation, #columns, columns,
    #text, text, tonumber(view.version), board.competition and 2 or 1))
  view.has_head = true
end

local function write_dead_letter(entry, code, detail)
  write(pack('>BdBc0I4c0', DEAD_LETTER, entry.offset, #code, code, #detail, detail))
end

local function written_verdicts()
  return table.concat(written, '', 1, parts)
end

-- Positions count from 0, ranks from 1.
local function placing(position, better, state)
  local bytes = better and pack('>ddd', position + 1, better + 1, state[1])
    or pack('>dd', position + 1, state[1])
  for i = 4, #state, 3 do bytes = bytes .. pack('>d', state[i]) end
  return bytes
end

-- The first `overtook` players after the new position, up to the old one (a new player: the last).
local function passed(view, before, after)
  local board, players = view.board, {}
  if board.overtook == 0 then return '\0' end
  local last = math.min(before or call('ZCARD', view.ranking) - 1, after + board.overtook)
  if last <= after then return '\0' end
  for i, member in ipairs(call('ZRANGE', view.ranking, after + 1, last)) do
    local id = sub(member, board.id_from)
    players[i] = pack('>dBc0', after + i + 1, #id, id)
  end
  return pack('>B', #players) .. table.concat(players)
end

-- The members of the outbox with verdicts of the records from `first` to `last`. They may also hold
-- verdicts of other offsets.
local function stored_verdicts(outbox, first, last)
  if first > last then return {} end
  local members = call('ZRANGEBYSCORE', outbox, format('%d', first), format('(%d', last))
  local behind = call('ZRANGEBYSCORE', outbox, format('%d', last), '+inf', 'LIMIT', 0, 1)
  members[#members + 1] = behind[1]
  return members
end
