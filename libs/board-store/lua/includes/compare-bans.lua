-- Walks over the ban registers. `bans` walks over the register of the shadow. `extraBans` walks
-- over the register of the live generation, to find entries that only this one has.
--
-- The shadow ends at the live applied offsets. The live generation may already have entries above
-- them, of an open run (settle.lua). So both walks skip these entries, and the walks over players
-- skip players who have one, or whose records are not settled.

-- include ban-register.lua

local ENTRIES_A_STEP = 500

-- Whether an entry is of an open run: its record is above the applied offset. `unsettled` does not
-- show this for each entry: an open run marks no player for an entry that changes no kind, and a
-- rollback settles the entries of its generation.
local function is_ahead(entry)
  local _, _, partition, offset = string.match(entry or '', PARTS_OF_ENTRY)
  return partition and tonumber(offset) > applied_offset_of(applied_offsets, partition)
end

-- The entries of players in a register; false for a player without one.
local function entries_of(players, register)
  local entries = {}
  if call('EXISTS', register) == 1 then load_entries(register, players, entries) end
  return entries
end

-- The kind of each player's entry in the register of the shadow; false for a player to skip.
local function kinds_of(players)
  local expected = entries_of(players, shadow_bans)
  local found = entries_of(players, live_bans)
  local kinds = {}
  for i, player in ipairs(players) do
    local is_open = unsettled[player] or is_ahead(found[player])
    kinds[i] = not is_open and kind_of(expected[player])
  end
  return kinds
end

walks['bans'] = function(cursor)
  local players, expected, next = scan('HSCAN', shadow_items, cursor, ENTRIES_A_STEP)
  local live = each_of('HMGET', live_items, players)
  for i, player in ipairs(players) do
    if live[i] ~= expected[i] and not is_ahead(live[i]) then
      differ('ban', '', player, expected[i], live[i])
    end
  end
  return next, #players, {}
end

walks['extraBans'] = function(cursor)
  local players, live, next = scan('HSCAN', live_items, cursor, ENTRIES_A_STEP)
  local expected = each_of('HMGET', shadow_items, players)
  for i, player in ipairs(players) do
    if not expected[i] and not is_ahead(live[i]) then differ('ban', '', player, nil, live[i]) end
  end
  return next, #players, {}
end
