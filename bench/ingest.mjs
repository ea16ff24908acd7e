// @ts-check
// `npm run bench -- [--events N] [--json]`: ranklog's ingest beside what is usually built, on the same log, in one run.
import {
  ensureBuild,
  ensureDependencies,
  runNode,
  serverEnvironment,
} from '../scripts/with-setup.mjs';

await ensureDependencies();
await ensureBuild();
const env = await serverEnvironment({ start: true });
await runNode(
  [new URL('./ingest/main.mjs', import.meta.url).pathname, ...process.argv.slice(2)],
  env,
);
