// @ts-check
// Loaded into the service by --import: answers each message of the bench with its memory, in bytes.

process.on('message', () => {
  const { rss } = process.memoryUsage();
  globalThis.gc?.(); // only reachable objects remain on the heap
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ rss, heapUsed, external });
});
process.channel?.unref();
