-- A move is what an event changes for its player in a view. Its fields:
--   old         the state before, false if there was none
--   state       the state after
--   bytes       the bytes of `state`
--   old_member  the member before, false if there was none; only in a ranked board
--   score       of the member after; only in a ranked board
--   member      the member after; only in a ranked board

-- include member.lua
-- include merge.lua

-- Fills and returns the move of an event. Takes the bytes of the state before, false for none.
-- Returns false if nothing changes, nil if a sum overflows.
local function fill_move(move, board, bytes, entry)
  local updates = board.updates
  local player = entry[PLAYER]
  local old = bytes and read_state(bytes, #updates)
  local state = merge(updates, old, entry)
  if not state then return nil end
  move.old = old
  move.state = state
  move.bytes = pack(STATE_LAYOUTS[#updates], unpack(state))
  if move.bytes == bytes then return false end
  if board.unranked then return move end

  move.old_member = old and member_of(board.tie, old, player) or false
  move.score = format('%d', state[1])
  move.member = member_of(board.tie, state, player)
  return move
end

-- Bytes of a state -> position of a view in which the player of an event has this state. The
-- positions of earlier events stay here, so find_moves checks each position.
local position_of = {}

-- Sets view.move of each view, false if nothing changes. Returns true if a sum overflows. Views
-- with the same state of the player share a move. For speed, no event makes or empties a table, and
-- a view with the same state as the view before it needs no lookup (docs/decisions/0039).
local function find_moves(board, views, entry)
  local player = entry[PLAYER]
  local before
  for i = 1, #views do
    local view = views[i]
    local bytes = view.states[player]
    if bytes == before then
      view.move = views[i - 1].move
    else
      if i > 1 then position_of[before] = i - 1 end
      local same = position_of[bytes]
      if same and same < i and views[same].states[player] == bytes then
        view.move = views[same].move
      else
        view.move = fill_move(view.own_move, board, bytes, entry)
        if view.move == nil then return true end
      end
      before = bytes
    end
  end
end
