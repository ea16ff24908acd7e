-- Short and fast names of what is called for every event. %d prints whole numbers of up to 64 bits, four times as fast as %.0f.
local call, format, find, sub, pack = redis.call, string.format, string.find, string.sub, struct.pack
