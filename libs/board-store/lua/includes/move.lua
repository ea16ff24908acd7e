-- A move: what an event changes for its player in a view, in these fields:
--   old, state       the state (state.lua) before, false if there was none, and after
--   bytes            `state` as Redis keeps it
--   score, member    what follows from it in the ranking
--   old_member       the member before, false if there was none
-- An unranked board has only the first three.

-- include member.lua
-- include merge.lua

-- Fills the move of a view that has such a state (bytes, false if none). Returns it, nil if nothing
-- changes; and whether a sum overflows.
local function find_move(board, move, bytes, entry)
  local updates, player = board.updates, entry[PLAYER]
  local old = bytes and read_state(bytes, #updates)
  local state, overflows = merge(updates, old, entry)
  if not state then return nil, overflows end
  move.old, move.state, move.bytes = old, state, pack(STATE_LAYOUTS[#updates], unpack(state))
  if board.unranked then return move end
  move.old_member = old and member_of(board.tie, old, player)
  move.score, move.member = format('%d', state[1]), member_of(board.tie, state, player)
  return move
end

-- Sets view.move of each view. Returns true if a sum overflows. The windows of a board often have the
-- same state of a player: they share its move, which saves a tenth of the CPU of Redis with four
-- windows (docs/performance.md). With one, a new table for each move would cost 4 %.
local function find_moves(board, views, entry)
  local bytes, move, overflows
  for i = 1, #views do
    local view = views[i]
    local present = view.states[entry[PLAYER]]
    if i == 1 or present ~= bytes then
      bytes = present
      move, overflows = find_move(board, view.own_move, bytes, entry)
      if overflows then return true end
    end
    view.move = move
  end
end
