// @ts-check
// `npm run demo`: sets everything up and runs the demo. --serve keeps it running.
import { fileURLToPath } from 'node:url';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const PROGRAM = fileURLToPath(new URL('demo/main.mjs', import.meta.url));

await ensureDependencies();
await ensureBuild();
await runNode(
  [PROGRAM, ...process.argv.slice(2)],
  await serverEnvironment({ start: ['kafka', 'redis'] }),
);
