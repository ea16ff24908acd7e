-- A record that changes the kind of an entry (ban-register.lua) has to change all views with a
-- state of the player. A call can neither know these views nor change thousands of them. So a run
-- of records takes several calls:
--
-- - The first call marks the records. It stores their entries, which count for all later events. It
--   stores the player of each record in a field `unsettled:PARTITION OFFSET` of the facts.
-- - Each later call settles some views: it makes their rankings fit the entries.
-- - The last call deletes the fields.
--
-- Any process may repeat any of these calls, because a settled view does not change any more. The
-- outbox keeps the verdicts of each record under its offset, so the last call finds those of all
-- calls.

-- include ban-register.lua
-- include view.lua

local leave, state_of_records, apply_record, unsettled_players

do -- a script can have 200 locals at a time; the locals of this block end with it
  local UNSETTLED = 'unsettled:'
  local NOBODY = '\0' -- no passed players, as `passed` (verdict.lua) writes them

  local function unsettled_field(partition, record)
    return format('%s%s %d', UNSETTLED, partition, record[OFFSET])
  end

  -- A set of the players with a record that is marked and not settled.
  function unsettled_players(facts)
    local found = {}
    local words = call('HGETALL', facts)
    for i = 1, #words, 2 do
      local field = words[i]
      local player = words[i + 1]
      if sub(field, 1, #UNSETTLED) == UNSETTLED then found[player] = true end
    end
    return found
  end

  -- Writes the movement of a player who enters or leaves a ranking. No player counts as overtaken.
  local function write_place(view, entry, state, before, after, better_before, better_after)
    write_movement(view, entry, state, state, before, after, better_before, better_after)
    if view.board.overtook > 0 then write(NOBODY) end
  end

  -- Removes the player's member of this state, if the ranking has it.
  function leave(view, entry, state)
    local member = member_of(view.board.tie, state, entry[PLAYER])
    if not call('ZSCORE', view.ranking, member) then return end

    touch(view, entry)
    if view.live then
      local before, better_before = positions(view, state, member)
      write_place(view, entry, state, before, -1, better_before, -1)
    end
    call('ZREM', view.ranking, member)
    view.left = true
  end

  -- Adds the player's member of this state, unless the ranking has it.
  local function enter(view, entry, state)
    local member = member_of(view.board.tie, state, entry[PLAYER])
    if call('ZADD', view.ranking, format('%d', state[1]), member) == 0 then return end

    touch(view, entry)
    if not view.live then return end

    local after, better_after = positions(view, state, member)
    write_place(view, entry, state, -1, after, -1, better_after)
  end

  -- Changes of a view that has expired are not reported.
  local function mute_if_expired(view)
    local board = view.board
    local expires = board.clock and call('ZSCORE', board.expiries, view.text)
    if expires and tonumber(expires) <= board.clock then
      view.live = false
      view.reported = false
    end
  end

  -- Makes the ranking of a view fit the player's entry in the ban register.
  local function settle(view, record)
    local board = view.board
    local player = record[PLAYER]
    local kind = kind_of(board.entries[player])
    local bytes = view.states[player]
    if not bytes then return end

    mute_if_expired(view)
    local state = read_state(bytes, #board.updates)
    if kind == UNBANNED then
      enter(view, record, state)
      return
    end
    leave(view, record, state)
    if kind == ERASED then call('HDEL', view.players, player) end
  end

  -- Returns whether a record of the run is marked, and whether the run remains open after this
  -- call. Sets `is_marked` of each record. While a record that changes a kind is not marked, the
  -- run needs a later call: clears run.isLast.
  function state_of_records(run, partition)
    local is_marked = false
    local is_open = false
    for _, record in ipairs(run.records) do
      local field = unsettled_field(partition, record)
      record.is_marked = call('HEXISTS', record.board.facts, field) == 1
      is_marked = is_marked or record.is_marked
      is_open = is_open or record.is_marked or record.changes
      if record.changes and not record.is_marked then run.isLast = false end
    end
    return is_marked, is_open and not run.isLast
  end

  -- Marks a record that changes a kind, and settles views of its player. The last call of the run
  -- removes the mark.
  function apply_record(run, views, record)
    local board = views.board
    local field = unsettled_field(run.partition, record)
    if record.changes and not board.unranked then
      call('HSET', board.facts, field, record[PLAYER])
    end
    for i = 1, #views do settle(views[i], record) end
    if run.isLast then call('HDEL', board.facts, field) end
    keep_verdicts(run.outbox, record[OFFSET], views)
  end
end
