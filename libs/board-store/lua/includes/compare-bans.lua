-- Walks over the ban registers. `bans` walks over the register of the shadow. `extraBans` walks
-- over the register of the live generation, to find entries that only this one has.
--
-- The shadow ends at the live applied offsets. The live generation may already have entries above
-- them, of an open run (settle.lua). So both walks skip these entries, and the walks over players
-- skip players whose records are not settled.

-- include ban-register.lua

local ENTRIES_A_STEP = 500
local shadow_register, live_register = shadow_items, live_items

-- The kind of each player's entry in the register of the shadow; false for a player to skip.
local function kinds_of(players)
  local entries = {}
  local kinds = {}
  if call('EXISTS', shadow_bans) == 1 then load_entries(shadow_bans, players, entries) end
  for i, player in ipairs(players) do
    kinds[i] = not unsettled[player] and kind_of(entries[player])
  end
  return kinds
end

-- Whether an entry is of an open run. `unsettled` does not show this for each entry: an open run
-- marks no player for an entry that changes no kind.
local function is_ahead(entry)
  local _, _, partition, offset = string.match(entry or '', PARTS_OF_ENTRY)
  return partition and tonumber(offset) > applied_offset_of(applied_offsets, partition)
end

walks['bans'] = function(cursor)
  local players, expected, next = scan('HSCAN', shadow_register, cursor, ENTRIES_A_STEP)
  local live = each_of('HMGET', live_register, players)
  for i, player in ipairs(players) do
    if live[i] ~= expected[i] and not is_ahead(live[i]) then
      differ('ban', '', player, expected[i], live[i])
    end
  end
  return next, #players, {}
end

walks['extraBans'] = function(cursor)
  local players, live, next = scan('HSCAN', live_register, cursor, ENTRIES_A_STEP)
  local expected = each_of('HMGET', shadow_register, players)
  for i, player in ipairs(players) do
    if not expected[i] and not is_ahead(live[i]) then differ('ban', '', player, nil, live[i]) end
  end
  return next, #players, {}
end
