// @ts-check
// `npm run services -- ARGS`: installs dependencies and builds, then controls Kafka and Redis.
import { ensureBuild, ensureDependencies } from './with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const { main } = await import('./services/main.mjs');
// Exits explicitly, because clients of servers that did not answer may still hold timers.
process.exit(await main(process.argv.slice(2)));
