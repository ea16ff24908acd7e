-- Commands with many values: a Lua function takes some thousands of arguments at most.

local CHUNK = 1000

-- Iterates over the first and last position of each chunk of a list.
local function chunks(list)
  local first = 1 - CHUNK
  return function()
    first = first + CHUNK
    if first <= #list then return first, math.min(first + CHUNK - 1, #list) end
  end
end

local function call_in_chunks(command, key, words)
  for first, last in chunks(words) do call(command, key, unpack(words, first, last)) end
end
