// @ts-check
// `node bench/run.mjs NAME [options]`: builds the project, starts Kafka and Redis unless they run,
// and runs bench/NAME/main.mjs.
import {
  ensureBuild,
  ensureDependencies,
  runNode,
  serverEnvironment,
} from '../scripts/with-setup.mjs';

/** Benchmarks that start a Kafka of their own. */
const WITH_OWN_KAFKA = ['processes'];

const [name = '', ...options] = process.argv.slice(2);
await ensureDependencies();
await ensureBuild();

const program = new URL(`./${name}/main.mjs`, import.meta.url).pathname;
const env = await environment();
await runNode([program, ...options], env);

/** The environment of the benchmark. Help needs no servers. */
async function environment() {
  if (options.includes('--help')) return process.env;
  if (WITH_OWN_KAFKA.includes(name)) return serverEnvironment({ start: ['redis'] });
  return serverEnvironment({ start: ['kafka', 'redis'] });
}
