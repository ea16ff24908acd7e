// @ts-check
// `node bench/run.mjs NAME [options]`: builds, finds or starts Kafka and Redis, and runs
// bench/NAME/main.mjs.
import {
  ensureBuild,
  ensureDependencies,
  runNode,
  serverEnvironment,
} from '../scripts/with-setup.mjs';

const [name = '', ...options] = process.argv.slice(2);
await ensureDependencies();
await ensureBuild();
/** Benchmarks that start a Kafka of their own. */
const WITH_OWN_KAFKA = ['processes'];
const env = options.includes('--help')
  ? process.env
  : await serverEnvironment({
      start: WITH_OWN_KAFKA.includes(name) ? ['redis'] : ['kafka', 'redis'],
    });
await runNode([new URL(`./${name}/main.mjs`, import.meta.url).pathname, ...options], env);
