-- A verdict is a result or a dead letter, as text that can be read without the definition: see
-- verdict-text.ts. After the offset:
--   change     \n generation \n columns (JSON) { \n view \t version \t before | - \t after
--              { \t rank player } }
--   leaders    \n generation \n columns (JSON) \n view \t version \t since | - \t count
--              \n top \n top before (leaders.lua)
--   deadLetter \n code \n detail
-- before, after: rank, competition rank (- if none), columns in sort direction; spaces in between
-- rank player: a passed player's new rank and id; since: view version of the last leader report
-- SEPARATOR joins a call's verdicts into a member of the outbox, scored by the call's last offset.

-- include base.lua

local SEPARATOR = '\30'

local written, parts = {}, 0

local function write(text)
  parts = parts + 1
  written[parts] = text
end

local function begin_verdict(offset_text, head)
  if parts > 0 then write(SEPARATOR) end
  write(offset_text)
  write(head)
end

local function write_dead_letter(entry, code, detail)
  begin_verdict(entry.text, '\ndeadLetter\n' .. code .. '\n' .. detail)
end

local function head_of(kind, board)
  return '\n' .. kind .. '\n' .. board.generation .. '\n' .. board.columns .. '\n'
end

local function written_verdicts()
  return table.concat(written, '', 1, parts)
end

-- Positions count from 0, ranks from 1.
local function placing(position, better, state)
  local competition_rank = better and format('%d', better + 1) or '-'
  local text = format('%d %s %d', position + 1, competition_rank, state[1])
  for i = 4, #state, 3 do text = format('%s %d', text, state[i]) end
  return text
end

-- The first `overtook` players after the new position, up to the old one (a new player: the last).
local function passed(view, before, after)
  local board, text = view.board, ''
  local last = math.min(before or call('ZCARD', view.ranking) - 1, after + board.overtook)
  if last <= after then return text end
  for i, member in ipairs(call('ZRANGE', view.ranking, after + 1, last)) do
    text = text .. format('\t%d ', after + i + 1) .. sub(member, board.id_from)
  end
  return text
end

-- All verdicts of the unpublished applied records from `first` to `last`, read from the outbox.
-- A member may hold verdicts of offsets before `first` or after `last`.
local function stored_verdicts(outbox, first, last)
  local found = {}
  if first > last then return found end
  local members = call('ZRANGEBYSCORE', outbox, format('%d', first), format('(%d', last))
  local behind = call('ZRANGEBYSCORE', outbox, format('%d', last), '+inf', 'LIMIT', 0, 1)
  members[#members + 1] = behind[1]
  for _, member in ipairs(members) do
    for verdict in string.gmatch(member, '[^' .. SEPARATOR .. ']+') do
      local offset = tonumber(string.match(verdict, '^%d+'))
      if offset >= first and offset <= last then found[#found + 1] = verdict end
    end
  end
  return found
end
