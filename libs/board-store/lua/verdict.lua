-- A verdict is text, complete without a definition; libs/board-store/verdict-text.ts reads it. After the offset:
--   change     \n generation \n columns (JSON) { \n view \t version \t placing | - \t placing }
--   deadLetter \n code \n detail
-- placing: rank, competition rank, then the value of each column in sort direction, separated by spaces

local function placing(view, state)
  if not state then return nil end
  local position, better = positions(view.ranking, state[1], state.member, #view.board.updates - 1)
  if not position then return nil end
  local words = { string.format('%.0f %.0f', position + 1, better + 1) }
  for i = 1, #state, 3 do words[#words + 1] = string.format('%.0f', state[i]) end
  return table.concat(words, ' ')
end

local function view_change(view, before, after)
  return table.concat({ view.text, view.version, before or '-', after }, '\t')
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
