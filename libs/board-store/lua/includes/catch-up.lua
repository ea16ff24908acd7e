-- Applies stretches to a shadow, up to the live applied offsets: the common part of build, promote
-- and compare-generations. Everything is muted: only the live generation has results.
--
-- KEYS  1 lease, 2 shadows, 3 live, 4 applied offsets, 5 applied offsets of the shadow, other
--       keys of the script, then those of the stretches (arguments.lua)
-- ARGV  1 token, 2 board, 3 generation of the shadow, 4 number of stretches, other arguments of the
--       script; for each stretch: partition, first offset, last offset, its records (arguments.lua)
--
-- A stretch is applied up to the live applied offset of its partition, and the shadow's applied
-- offset is set with it: if a later stretch fails, the shadow still matches its applied offsets.
-- The shadow of a verify has no rankings, as nothing reads them; that of a build gets them later
-- (rank-shadow-3.lua).

-- include lease.lua
-- include run.lua

local function applied_offset_of(key, partition)
  return tonumber(call('HGET', key, partition) or '-1')
end

local function read_stretches(key, at)
  local stretches = {}
  for i = 1, tonumber(ARGV[4]) do
    local stretch = { partition = ARGV[at + 1] }
    stretch.first, stretch.last = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    stretch.run, at, key = read_run(at + 3, key)
    stretches[i] = stretch
  end
  return stretches
end

local function refusal(shadow, stretches)
  if not holds_lease(KEYS[1], ARGV[1]) then return LEASE_LOST end
  if not shadow or shadow.generation ~= ARGV[3] then return SHADOW_GONE end
  for _, stretch in ipairs(stretches) do
    if stretch.first > applied_offset_of(KEYS[5], stretch.partition) + 1 then return GAP end
  end
end

local function apply_stretch(stretch, is_unranked)
  local partition = stretch.partition
  local applied_offset = applied_offset_of(KEYS[5], partition)
  local last = math.min(stretch.last, applied_offset_of(KEYS[4], partition))
  if last <= applied_offset then return end
  for _, board in ipairs(stretch.run.boards) do board.unranked = is_unranked end
  load_run(stretch.run, partition, applied_offset, last, false)
  call('HSET', KEYS[5], partition, format('%d', last))
  apply_run(stretch.run, partition)
end

-- Applies all stretches and returns them, or nil and the refusal. The script has so many keys and
-- arguments before the stretches.
local function catch_up(keys, arguments)
  local stretches, shadow = read_stretches(keys, arguments), shadow_of(KEYS[2], ARGV[2])
  local refused = refusal(shadow, stretches)
  if refused then return nil, refused end
  local is_unranked = shadow.purpose == 'verify' or shadow.purpose == 'unranked'
  for _, stretch in ipairs(stretches) do apply_stretch(stretch, is_unranked) end
  return stretches
end

-- { caught up in all (1, 0), number of partitions, then for each: partition, applied offset of the
-- shadow, live applied offset }. A shadow whose start is above the live offset counts as caught up.
local function progress_in(partitions)
  local found, caught_up = { 1, #partitions }, true
  for _, partition in ipairs(partitions) do
    local shadow = applied_offset_of(KEYS[5], partition)
    local live = applied_offset_of(KEYS[4], partition)
    if shadow < live then caught_up = false end
    found[#found + 1], found[#found + 2] = partition, format('%d', shadow)
    found[#found + 1] = format('%d', live)
  end
  if not caught_up then found[1] = 0 end
  return found, caught_up
end
