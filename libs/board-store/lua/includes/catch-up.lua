-- Applies stretches to a shadow, up to the live applied offsets: the common part of build, promote
-- and compare-generations. Everything is muted: only the live generation has results.
--
-- KEYS  lease, shadows, applied_offsets, shadow_applied_offsets
-- ARGV  token, board
--       generation     of the shadow
--       stretch_count
--
-- The lists `stretch_keys...` and `stretches...` are the last ones of a script. `stretch_keys` has
-- the keys of each stretch (arguments.lua). `stretches` has for each stretch: partition, first
-- offset, last offset, its records (arguments.lua).
--
-- A stretch is applied up to the live applied offset of its partition. The shadow's applied offset
-- is stored together with it. So if a later stretch fails, the shadow still matches its applied
-- offsets.
-- The shadow of a verify has no rankings, because nothing reads them. The shadow of a build gets
-- them later (rank-shadow-4.lua).

-- include lease.lua
-- include run.lua

local function applied_offset_of(key, partition)
  return tonumber(call('HGET', key, partition) or '-1')
end

local function read_stretches()
  local stretches = {}
  local at = stretches_from
  local key = stretch_keys_from
  for i = 1, tonumber(stretch_count) do
    local stretch = { partition = ARGV[at] }
    stretch.first = tonumber(ARGV[at + 1])
    stretch.last = tonumber(ARGV[at + 2])
    stretch.run, at, key = read_run(at + 3, key)
    stretches[i] = stretch
  end
  return stretches
end

local function refusal(shadow, stretches)
  if not holds_lease(lease, token) then return LEASE_LOST end
  if not shadow or shadow.generation ~= generation then return SHADOW_GONE end
  for _, stretch in ipairs(stretches) do
    local applied_offset = applied_offset_of(shadow_applied_offsets, stretch.partition)
    if stretch.first > applied_offset + 1 then return GAP end
  end
end

local function apply_stretch(stretch, unranked)
  local partition = stretch.partition
  local applied_offset = applied_offset_of(shadow_applied_offsets, partition)
  local last = math.min(stretch.last, applied_offset_of(applied_offsets, partition))
  if last <= applied_offset then return end
  for _, board in ipairs(stretch.run.boards) do board.unranked = unranked end
  load_run(stretch.run, partition, applied_offset, last, false)
  call('HSET', shadow_applied_offsets, partition, format('%d', last))
  apply_run(stretch.run, partition)
end

-- Applies all stretches and returns them, or nil and the refusal.
local function catch_up()
  local stretches = read_stretches()
  local shadow = shadow_of(shadows, board)
  local refused = refusal(shadow, stretches)
  if refused then return nil, refused end
  for _, stretch in ipairs(stretches) do apply_stretch(stretch, is_unranked(shadow)) end
  return stretches
end

-- Returns two values. The first is a list: caught up in all partitions (1, 0), number of
-- partitions, then for each: partition, applied offset of the shadow, live applied offset. The
-- second is whether the shadow is caught up. A shadow whose start in a partition is above the live
-- applied offset is caught up there.
local function progress_in(partitions)
  local found = { 1, #partitions }
  local caught_up = true
  for _, partition in ipairs(partitions) do
    local shadow_offset = applied_offset_of(shadow_applied_offsets, partition)
    local live_offset = applied_offset_of(applied_offsets, partition)
    if shadow_offset < live_offset then caught_up = false end
    found[#found + 1] = partition
    found[#found + 1] = format('%d', shadow_offset)
    found[#found + 1] = format('%d', live_offset)
  end
  if not caught_up then found[1] = 0 end
  return found, caught_up
end
