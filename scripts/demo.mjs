// @ts-check
// `npm run demo`: football seasons through Kafka and Redis, compared with the official tables. --serve keeps it running.
import { ensureBuild, ensureDependencies, runNode, serverEnvironment } from './with-setup.mjs';

ensureDependencies();
ensureBuild();
const env = await serverEnvironment({ start: true });
runNode([new URL('./demo/main.mjs', import.meta.url).pathname, ...process.argv.slice(2)], env);
