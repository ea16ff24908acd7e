-- What Redis keeps of a board, where somebody may have written something else; needs names.lua.

-- 2^53 - 2^40: from there on, soon no number would be larger than the one before.
local KEPT_END = 9006099743113216

-- The integer that a text is, else nil. One that could not be counted on from is none.
local function kept_number(text)
  local number = text and #text <= 16 and find(text, '^%-?%d+$') and tonumber(text)
  return number and number < KEPT_END and number or nil
end

-- What a key is in place of what it should be; nil where it is that, or not there.
local function wrong_type(key, expected)
  local found = call('TYPE', key).ok
  if found ~= expected and found ~= 'none' then return format('%s is a %s', key, found) end
end

-- Reads a key that may be of another type.
local function read_kept(command, key, ...)
  local found = redis.pcall(command, key, ...)
  if type(found) == 'table' and found.err then error(format('%s is damaged (%s): rebuild the board', key, found.err)) end
  return found
end
