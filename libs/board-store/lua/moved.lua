-- Whether somebody has moved a watermark by hand; needs names.lua.
--
-- Watermark and last record are written in one step. So a record above the watermark, or one of the log that lies between the two,
-- says that one of them was moved: what would be skipped was never applied, or what would be applied is applied.

local WATERMARK_MOVED = -9

-- `record` is what is kept of the last applied one, false for none; `entries` are some of the log, in its order, and `last` is the
-- offset of the last record that was read with them, which may be no entry of this shard; nil for none.
local function is_moved(watermark, record, entries, last)
  if not watermark or watermark % 1 ~= 0 or watermark < -1 then return true end -- no offset
  local applied = tonumber(string.match(record or '', '^(%d+) %-?%d+ %S+$'))
  if not applied then return false end
  if applied > watermark then return true end
  if last and last > applied and last <= watermark then return true end
  if #entries == 0 or entries[#entries].offset <= applied then return false end
  for _, entry in ipairs(entries) do
    if entry.offset > watermark then return false end
    if entry.offset > applied then return true end
  end
  return false
end
