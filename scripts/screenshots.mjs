// @ts-check
// `npm run screenshots`: writes the pictures of the page in docs/images, of the demo's data in a
// headless Chromium.
import { fileURLToPath } from 'node:url';
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

const PROGRAM = fileURLToPath(new URL('screenshots/main.mjs', import.meta.url));

await ensureDependencies();
await ensureBuild();
await runNode([PROGRAM], await serverEnvironment({ start: ['kafka', 'redis'] }));
