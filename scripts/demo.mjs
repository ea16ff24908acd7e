// @ts-check
// `npm run demo`: sets everything up and runs the demo; --serve shows it on a page, --cluster runs
// it on a Redis Cluster.
import { fileURLToPath } from 'node:url';
import { demoOptions } from './demo/options.mjs';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const PROGRAM = fileURLToPath(new URL('demo/main.mjs', import.meta.url));

// A mistake in them shows before the setup, which may take minutes
const { cluster } = demoOptions();
await ensureDependencies();
await ensureBuild();
await runNode(
  [PROGRAM, ...process.argv.slice(2)],
  await serverEnvironment({
    start: ['kafka', 'redis'],
    ...(cluster && { redisKind: 'cluster' }),
  }),
);
