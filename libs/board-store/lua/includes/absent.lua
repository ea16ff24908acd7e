-- Applies events of players who are banned or erased (ban-register.lua). Until the player record is
-- settled, a ranking may still have the member of the old state: the event removes it.

-- include settle.lua

-- Applies view.move to a banned player: only the state changes.
local function move_banned(view, entry)
  local move = view.move
  local player = entry[PLAYER]
  touch(view, entry)
  if move.old and not view.board.unranked then leave(view, entry, move.old) end
  view.states[player] = move.bytes
  call('HSET', view.players, player, move.bytes)
end

-- An erased player has no state after an event.
local function pass_erased(views, entry)
  make_views(views, entry)
  local player = entry[PLAYER]
  for _, view in ipairs(views) do
    local board = view.board
    local bytes = view.states[player]
    if bytes then
      if not board.unranked then leave(view, entry, read_state(bytes, #board.updates)) end
      view.states[player] = false
      call('HDEL', view.players, player)
    end
  end
end
