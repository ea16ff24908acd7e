-- A move is what an event changes for its player in a view: `old` and `state` are the states before
-- (false if there was none) and after, `bytes` are those of `state`. In a ranked board, `score` and
-- `member` follow from `state`, and `old_member` is the member before, false if there was none.

-- include member.lua
-- include merge.lua

-- Fills and returns a move from the bytes of a state (false if none); nil if nothing changes, or if a
-- sum overflows, which is the second result.
local function fill_move(move, board, bytes, entry)
  local updates, player = board.updates, entry[PLAYER]
  local old = bytes and read_state(bytes, #updates)
  local state = merge(updates, old, entry)
  if not state then return nil, true end
  move.old, move.state, move.bytes = old, state, pack(STATE_LAYOUTS[#updates], unpack(state))
  if move.bytes == bytes then return nil end
  if board.unranked then return move end
  move.old_member = old and member_of(board.tie, old, player)
  move.score, move.member = format('%d', state[1]), member_of(board.tie, state, player)
  return move
end

-- Sets view.move of each view, nil if nothing changes. Returns true if a sum overflows. Windows of a
-- board that have the same state of a player share a move: a tenth less CPU of Redis with four of
-- them. A new table per move would be 4 % more CPU with one (docs/decisions/0026).
local function find_moves(board, views, entry)
  local player, overflows = entry[PLAYER], nil
  for i = 1, #views do
    local view, beside = views[i], views[i - 1]
    local bytes = view.states[player]
    if beside and beside.states[player] == bytes then
      view.move = beside.move
    else
      view.move, overflows = fill_move(view.own_move, board, bytes, entry)
      if overflows then return true end
    end
  end
end
