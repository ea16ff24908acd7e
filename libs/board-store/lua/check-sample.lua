-- Looks at a sample of one view of a live generation: whether what is kept of it twice agrees. Writes nothing.
--
-- KEYS  1 live, 2 views, 3 players, 4 ranking, 5 facts
-- ARGV  1 board, 2 generation, 3 view, 4 tie (1 earliest, -1 latest, 0 none), 5 number of columns, 6 most players, 7 most members
-- Returns  { kind, what is wrong, ... } of each violation; nothing when the generation is no longer live.
--          Kinds: view (known, but without players, or the reverse), type (a key is of another type), number (a
--          fact or the version of the view is none), size (as many players as
--          members), state (of a player: not readable), player (whose member is not in the ranking), member (without its player)
-- Cost  O(sample log players + partitions)
--
-- In one step, so that nothing that is being written shows half; a sweep takes all keys of a view at once.

-- include names.lua
-- include kept.lua
-- include state.lua
-- include rank.lua

if call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return {} end
local tie, columns = tonumber(ARGV[4]), tonumber(ARGV[5])
local violations = {}
local MOST_SHOWN = 100

local function violation(kind, detail)
  violations[#violations + 1] = kind
  violations[#violations + 1] = detail
end

local function have_types()
  for i, expected in ipairs({ false, 'hash', 'hash', 'zset', 'hash' }) do
    local wrong = expected and wrong_type(KEYS[i], expected)
    if wrong then violation('type', wrong) end
  end
  return #violations == 0
end

local function check_numbers()
  local facts, version = call('HGETALL', KEYS[5]), call('HGET', KEYS[2], ARGV[3])
  for i = 1, #facts, 2 do
    if not kept_number(facts[i + 1]) then violation('number', format('%s of %s is %s', facts[i], KEYS[5], sub(facts[i + 1], 1, MOST_SHOWN))) end
  end
  if version and not kept_number(version) then violation('number', 'its version is ' .. sub(version, 1, MOST_SHOWN)) end
end

local function check_sizes()
  local players, members = call('HLEN', KEYS[3]), call('ZCARD', KEYS[4])
  if players ~= members then
    violation('size', format('%d players, and %d members in the ranking', players, members))
  end
  local is_known = call('HEXISTS', KEYS[2], ARGV[3]) == 1
  if is_known and players == 0 then violation('view', 'it is known, but has no players') end
  if not is_known and players + members > 0 then violation('view', 'it has players, but is not known') end
end

local function check_player(player, text)
  local state = parse_state(text, columns)
  if not state then return violation('state', format('of player %s: %s', player, text)) end
  local score = call('ZSCORE', KEYS[4], member_of(tie, state, player))
  if tonumber(score) ~= state[1] then
    violation('player', format('%s with %s is %s', player, text,
      score and 'ranked with ' .. score or 'not in the ranking by that'))
  end
end

-- A member begins with 8 bytes for each further column and 7 for the reach time.
local function check_member(member)
  local player = sub(member, 8 * (columns - 1) + (tie == 0 and 0 or 7) + 1)
  local text = call('HGET', KEYS[3], player)
  local state = text and parse_state(text, columns)
  if not state or member_of(tie, state, player) ~= member then
    violation('member', format('of player %s, who has %s', player, text or 'no state'))
  end
end

if not have_types() then return violations end
check_numbers()
check_sizes()
local players = call('HRANDFIELD', KEYS[3], ARGV[6], 'WITHVALUES')
for i = 1, #players, 2 do check_player(players[i], players[i + 1]) end
for _, member in ipairs(call('ZRANDMEMBER', KEYS[4], ARGV[7])) do check_member(member) end
return violations
