-- The common part of all reads of a board.
--
-- KEYS  live, snapshots, definitions, starts, continuity, recovery_targets, facts, views
-- ARGV  board
--       believed_generation  generation that the caller believes in ('' for none)
--       snapshot             to read ('' for the live generation)

-- include continuity.lua

-- Returns nil if the caller names the generation to read. Otherwise returns { 'MOVED', generation,
-- its definition (JSON), its starts (JSON) }, with '' for each part that does not exist.
local function moved()
  local generation = call('HGET', live, board)
  if snapshot ~= '' then
    generation = call('HGET', snapshots, snapshot) == board and snapshot
  end
  if not generation then return { 'MOVED', '', '', '' } end
  if generation == believed_generation then return nil end
  local definition = call('HGET', definitions, generation)
  local start_offsets = call('HGET', starts, generation)
  return { 'MOVED', generation, definition or '', start_offsets or '' }
end

-- Returns 1 if Redis lacks published events, or if it may lack some because it has to be resynced;
-- else 0.
local function stale()
  local is_recovering = call('HLEN', recovery_targets) > 0
  return (is_recovering or not is_continued(call('GET', continuity))) and 1 or 0
end
