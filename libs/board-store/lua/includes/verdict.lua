-- The verdicts of a call are a member of the outbox: bytes that verdicts.ts reads without the
-- definition. Its score is the last offset of the call, or the offset of a player record. Leader
-- changes come last. Each part of a member begins with its kind (B). Letters are formats of struct;
-- a text follows its length (I4). The parts:
--   HEAD         of the changes and leaders in a view: number of the view (H), generation, columns
--                (JSON), view, version (d), 1 if its changes have competition ranks, else 0 (B), 1
--                if they name passed players, else 0 (B)
--   CHANGE       in one view: offset (d), number of the view (H), then before and after (d each):
--                rank (0 if the player is not in the view), columns in sort direction, competition
--                rank if the head says so. Then if the head says so: number of passed players (B),
--                for each: new rank (d), id
--   LEADERS      offset (d), number of the view (H), version at the last report (d; NaN for none),
--                top, top before (leaders.lua)
--   DEAD_LETTER  offset (d), code, detail

-- include base.lua
-- include arguments.lua

local HEAD, CHANGE, LEADERS, DEAD_LETTER = 0, 1, 2, 3

local written = {}

local function write(bytes)
  written[#written + 1] = bytes
end

local function write_head(view)
  local board = view.board
  local generation = board.generation
  local columns = board.columns
  local text = view.text
  write(pack('>BHI4c0I4c0I4c0dBB', HEAD, view.number, #generation, generation, #columns, columns,
    #text, text, tonumber(view.version), board.competition and 1 or 0,
    board.overtook > 0 and 1 or 0))
  view.has_head = true
end

local function write_dead_letter(entry, code, detail)
  write(pack('>BdI4c0I4c0', DEAD_LETTER, entry[OFFSET], #code, code, #detail, detail))
end

-- For a board with one column, one struct.pack writes the whole change: a call costs more than the
-- numbers in it.
local function write_change(view, entry, before, after, old, state)
  write(pack('>BdHdddd', CHANGE, entry[OFFSET], view.number, before + 1, after + 1, old[1],
    state[1]))
  for i = 4, #state, 3 do write(pack('>dd', old[i], state[i])) end
end

-- `after` is -1 for a player who leaves the view, `before` for one who enters it.
local function write_movement(view, entry, old, state, before, after, better_before, better_after)
  if not view.has_head then write_head(view) end
  write_change(view, entry, before, after, old, state)
  if view.board.competition then write(pack('>dd', better_before + 1, better_after + 1)) end
end

-- Returns the passed players: the first `overtook` players from behind the new position to the old
-- one. A new player passes all players behind.
local function passed(view, before, after)
  local players = {}
  local last_passed = before < 0 and call('ZCARD', view.ranking) - 1 or before
  local last = math.min(last_passed, after + view.board.overtook)
  if last <= after then return '\0' end
  for i, member in ipairs(call('ZRANGE', view.ranking, after + 1, last)) do
    local id = sub(member, view.board.id_from)
    players[i] = pack('>dI4c0', after + i + 1, #id, id)
  end
  return pack('>B', #players) .. table.concat(players)
end

-- Stores the written verdicts as a member of an outbox, with an offset as its score. Returns the
-- member; nil if there are no verdicts. A muted run has no outbox. The next member has heads of its
-- own.
local function keep_verdicts(outbox, offset, views)
  if not outbox or #written == 0 then return nil end
  local member = table.concat(written)
  call('ZADD', outbox, format('%d', offset), member)
  written = {}
  for i = 1, #views do views[i].has_head = false end
  return member
end

-- Returns the members of the outbox that have verdicts of the records from `first` to `last`. A
-- score is the last offset of its call, so the first member above `last` may have some, too. The
-- members may also have verdicts of other offsets.
local function stored_verdicts(outbox, first, last)
  if first > last then return {} end
  local members = call('ZRANGEBYSCORE', outbox, format('%d', first), format('%d', last))
  local behind = call('ZRANGEBYSCORE', outbox, format('(%d', last), '+inf', 'LIMIT', 0, 1)
  members[#members + 1] = behind[1]
  return members
end
