import { existsSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openRedis } from '#servers';
import { ServicesFolder } from '../support/project.js';

const { KAFKA_BROKERS } = process.env;
/** Keys of different slots. */
const KEYS = Array.from({ length: 20 }, (_, index) => `key-${index}`);

/** A URL of the environment that a command prints. */
async function redisUrl(services: ServicesFolder, ...flags: string[]): Promise<string> {
  const { stdout } = await services.run(['env', '--json', ...flags], { KAFKA_BROKERS });
  return (JSON.parse(stdout) as { REDIS_URL: string }).REDIS_URL;
}

async function status(services: ServicesFolder) {
  const { exitCode, stdout } = await services.run(['status', '--json'], { KAFKA_BROKERS });
  return { exitCode, ...(JSON.parse(stdout) as Record<string, { how: string; address: string }>) };
}

async function writeKeys(url: string): Promise<void> {
  const redis = openRedis(url);
  await Promise.all(KEYS.map((key) => redis.set(key, key)));
  redis.disconnect();
}

async function readKeys(url: string): Promise<(string | null)[]> {
  const redis = openRedis(url);
  const values = await Promise.all(KEYS.map((key) => redis.get(key)));
  redis.disconnect();
  return values;
}

function pidIn(services: ServicesFolder, file: string): number {
  return Number(readFileSync(services.path(file), 'utf8').split('\n')[0]);
}

describe('npm run services with Redis Cluster and sentinels', () => {
  let services: ServicesFolder;
  let cluster: string;
  beforeAll(() => {
    services = new ServicesFolder();
  });
  afterAll(() => services.remove());

  it('refuses sizes that it does not know, and two kinds at once', async () => {
    expect(await services.run(['up', 'redis', '--cluster', '5'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('use 1, 2 or 3 (primaries only) or 6'),
    });
    expect((await services.run(['up', 'redis', '--cluster', '--sentinel'])).exitCode).toBe(2);
    expect((await services.run(['up', 'redis', '3'])).exitCode).toBe(2);
  });

  it('starts a cluster of six, names all nodes, and does nothing the second time', async () => {
    const up = ['up', 'redis', '--cluster'];
    for (const { exitCode } of await Promise.all([services.run(up), services.run(up)]))
      expect(exitCode).toBe(0);
    cluster = await redisUrl(services);
    expect(cluster).toMatch(/^redis\+cluster:\/\/(127\.0\.0\.1:\d+,){5}127\.0\.0\.1:\d+$/);
    expect(await status(services)).toMatchObject({
      exitCode: 0,
      cluster: { how: 'native', address: cluster, answers: true },
    });
    expect(await status(services)).not.toHaveProperty('redis');
    await writeKeys(cluster);
    expect((await services.run([...up, '3'])).stderr).toContain('of 6 servers is running');
  });

  it('starts a killed node, and keeps the data while all are stopped', async () => {
    const killed = pidIn(services, 'cluster-2.pid');
    const other = pidIn(services, 'cluster-1.pid');
    process.kill(killed, 'SIGKILL');
    expect((await status(services)).exitCode).toBe(1);
    expect((await services.run(['up', 'redis', '--cluster'])).exitCode).toBe(0);
    expect(pidIn(services, 'cluster-2.pid')).not.toBe(killed);
    expect(pidIn(services, 'cluster-1.pid')).toBe(other);
    expect((await services.run(['down'])).exitCode).toBe(0);
    expect((await services.run(['up', 'redis', '--cluster'])).exitCode).toBe(0);
    expect(await redisUrl(services)).toBe(cluster);
    expect(await readKeys(cluster)).toEqual(KEYS);
  });

  it('starts sentinels beside it, and prints what was started last unless asked', async () => {
    expect((await services.run(['up', 'redis', '--sentinel'])).exitCode).toBe(0);
    const sentinel = await redisUrl(services);
    expect(sentinel).toMatch(
      /^redis\+sentinel:\/\/(127\.0\.0\.1:\d+,){2}127\.0\.0\.1:\d+\/ranklog$/,
    );
    expect(await redisUrl(services, '--sentinel')).toBe(sentinel);
    expect(await redisUrl(services, '--cluster')).toBe(cluster);
    await writeKeys(sentinel);
    expect(await readKeys(sentinel)).toEqual(KEYS);
    const other = { REDIS_URL: 'redis://127.0.0.1:1', KAFKA_BROKERS };
    const own = await services.run(['env', '--cluster'], other);
    expect(own.stdout).toContain(`REDIS_URL=${cluster}\n`);
  });

  it('only checks a cluster that the environment names', async () => {
    const checked = (url: string) => services.run(['up', 'redis', '--cluster'], { REDIS_URL: url });
    expect(await checked(cluster)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await checked('redis+cluster://me:secret@127.0.0.1:1')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/REDIS_URL is set to redis\+cluster:\/\/\*\*\*@127/),
    });
  });

  it('names a taken port, and removes the data on demand', async () => {
    expect((await services.run(['down'])).exitCode).toBe(0);
    const port = Number(/:(\d+)$/.exec(cluster)?.[1]);
    const squatter = createServer().listen(port + 10_000, '127.0.0.1');
    await once(squatter, 'listening');
    const { exitCode, stderr } = await services.run(['up', 'redis', '--cluster']);
    squatter.close();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`another program uses port ${port + 10_000}`);
    expect((await services.run(['down', '--purge'])).exitCode).toBe(0);
    expect(existsSync(services.path('cluster-data'))).toBe(false);
    expect(existsSync(services.path('sentinel-data'))).toBe(false);
  });

  it('starts a cluster of two primaries, which have all slots', async () => {
    expect((await services.run(['up', 'redis', '--cluster', '2'])).exitCode).toBe(0);
    const url = await redisUrl(services);
    expect(url).toMatch(/^redis\+cluster:\/\/127\.0\.0\.1:\d+,127\.0\.0\.1:\d+$/);
    await writeKeys(url);
    expect(await readKeys(url)).toEqual(KEYS);
  });
});

/** A `docker` that runs the command of a container here, with a folder in place of its volume. */
const DOCKER = (folder: string) => `
cd ${folder}
echo "$*" >> docker-calls
case "$1 $2" in
  'container ls') [ ! -e container ] || echo id;;
  'run --detach')
    for script; do :; done
    echo "$script" | sed 's#/data#${folder}/volume#g' > script
    (setsid sh -c 'echo $$ > container; exec sh script'; rm container) > log 2>&1 &
    until [ -s container ]; do sleep 0.1; done;;
  stop*) kill $(cat container); while [ -e container ]; do sleep 0.1; done;;
  'volume rm') rm -r volume;;
esac`;

describe('npm run services with Redis Cluster and sentinels in Docker', () => {
  let services: ServicesFolder;
  beforeAll(() => {
    services = new ServicesFolder();
    services.docker(DOCKER(services.folder));
  });
  afterAll(() => services.remove());

  it.each(['cluster', 'sentinel'])('runs all servers of %s in one container', async (group) => {
    const up = ['up', 'redis', `--${group}`];
    expect((await services.run(up)).exitCode).toBe(0);
    const url = await redisUrl(services);
    expect(await status(services)).toMatchObject({
      exitCode: 0,
      [group]: { how: 'docker', address: url, answers: true },
    });
    await writeKeys(url);
    expect((await services.run(up)).exitCode).toBe(0);
    const calls = readFileSync(services.path('docker-calls'), 'utf8');
    const runs = calls.match(/^run --detach .* redis:7 sh -c/gm) ?? [];
    const name = `ranklog-[0-9a-f]{8}-${group}`;
    expect(runs.at(-1)).toMatch(
      new RegExp(
        String.raw`--name (${name}) --volume \1:/data --publish 127\.0\.0\.1:(\d+-\d+):\2 `,
      ),
    );
    expect(runs.filter((run) => run.includes(group))).toHaveLength(1);

    expect((await services.run(['down'])).exitCode).toBe(0);
    expect((await status(services)).exitCode).toBe(1);
    expect((await services.run(up)).exitCode).toBe(0);
    expect(await readKeys(url)).toEqual(KEYS);
    expect((await services.run(['down', '--purge'])).exitCode).toBe(0);
    expect(existsSync(services.path('volume'))).toBe(false);
  });
});
