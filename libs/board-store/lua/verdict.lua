-- A verdict is text, complete without a definition; libs/board-store/verdict-text.ts reads it. After the offset:
--   change     \n generation \n columns (JSON) { \n view \t version \t placing | - \t placing { \t rank player } }
--   leaders    \n generation \n columns (JSON) \n view \t version \t since | - \t count \n top \n top before (see leaders.lua)
--   deadLetter \n code \n detail
-- placing: rank, competition rank, then the value of each column in sort direction, separated by spaces
-- rank player: one who was passed, with the rank after it

local function placing(view, state)
  if not state then return nil end
  local position, better = positions(view.ranking, state[1], state.member, #view.board.updates - 1)
  if not position then return nil end
  local words = { string.format('%.0f %.0f', position + 1, better + 1) }
  for i = 1, #state, 3 do words[#words + 1] = string.format('%.0f', state[i]) end
  return { rank = position + 1, ranks = words[1], text = table.concat(words, ' ') }
end

-- The players between the new and the old place, from the new one on. Who enters passes all behind.
local function add_passed(words, view, before, after)
  local board = view.board
  local old = before and before.rank or redis.call('ZCARD', view.ranking)
  local last = math.min(old, after.rank + board.overtook) - 1
  if last < after.rank then return end
  for i, member in ipairs(redis.call('ZRANGE', view.ranking, after.rank, last)) do
    words[#words + 1] = string.format('%.0f ', after.rank + i) .. string.sub(member, board.id_from)
  end
end

local function view_change(view, before, after)
  local words = { view.text, view.version, before and before.text or '-', after.text }
  if view.board.overtook > 0 then add_passed(words, view, before, after) end
  return table.concat(words, '\t')
end

local function rank_change(board, changes)
  return 'change\n' .. board.generation .. '\n' .. board.columns .. '\n' .. table.concat(changes, '\n')
end

local function dead_letter(code, detail)
  return 'deadLetter\n' .. code .. '\n' .. detail
end

-- Entries at or below the watermark were applied before: only the outbox knows what became of them. What lies below
-- the published position is on its way out of it.
local function stored_verdicts(entries, watermark, published)
  if not entries[1] or entries[1].offset > watermark then return {} end
  local first = string.format('%.0f', math.max(published, entries[1].offset))
  return redis.call('ZRANGEBYSCORE', KEYS[4], first, string.format('%.0f', math.min(watermark, entries[#entries].offset)))
end
