// @ts-check
// What `npm run services` calls: dependencies first, then the servers.
import { ensureDependencies, runNode } from './with-setup.mjs';

ensureDependencies();
runNode(
  [new URL('./services/main.mjs', import.meta.url).pathname, ...process.argv.slice(2)],
  process.env,
);
