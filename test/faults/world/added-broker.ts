import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { eventually } from '../../support/eventually.js';
import { testKafka } from '../../support/kafka-client.js';

const HOST = '127.0.0.1';
const JVM = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:+ExitOnOutOfMemoryError'];

/** A broker that joins the one of scripts/services, which is the controller of both. Their data lie side by side. */
export class AddedBroker {
  private constructor(
    readonly port: number,
    private readonly process: ChildProcess,
  ) {}

  /** `first` is the configuration file of the first broker, `id` the node id of the new one. Resolves once it is let in. */
  static async start(first: string, id: number): Promise<AddedBroker> {
    const port = await getPort({ host: HOST });
    const settings = settingsIn(first);
    const [data = '', bootstrap = ''] = ['log.dirs', 'advertised.listeners'].map((name) =>
      settings.get(name),
    );
    settings
      .set('process.roles', 'broker')
      .set('node.id', String(id))
      .set('listeners', `PLAINTEXT://${HOST}:${port}`)
      .set('advertised.listeners', `PLAINTEXT://${HOST}:${port}`)
      .set('log.dirs', `${data}-${id}`);
    const config = first.replace('.properties', `-${id}.properties`);
    writeFileSync(config, [...settings].map((entry) => `${entry.join('=')}\n`).join(''));
    const cluster = settingsIn(path.join(data, 'meta.properties')).get('cluster.id') ?? '';
    const java = ['-cp', classpathBeside(data)];
    const format = ['format', `--cluster-id=${cluster}`, '--config', config];
    execFileSync('java', [...java, 'kafka.tools.StorageTool', ...format], { stdio: 'ignore' });
    const child = spawn('java', [...JVM, ...java, 'kafka.Kafka', config], { stdio: 'ignore' });
    await letIn(bootstrap.replace('PLAINTEXT://', ''), id);
    return new AddedBroker(port, child);
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    if (this.process.exitCode === null && this.process.kill('SIGKILL')) await ended;
  }
}

function settingsIn(file: string): Map<string, string> {
  const found = readFileSync(file, 'utf8').matchAll(/^([^#=\n]+)=(.*)$/gm);
  return new Map([...found].map(([, name = '', value = '']) => [name, value]));
}

/** The jars of the release whose data these are: `kafka-data-4.1` lies beside `kafka-4.1.2`. */
function classpathBeside(data: string): string {
  const folder = path.dirname(data);
  const prefix = `${path.basename(data).replace('-data', '')}.`;
  const jars = readdirSync(folder).find((name) => name.startsWith(prefix)) ?? '';
  return path.join(folder, jars, '*');
}

async function letIn(bootstrap: string, id: number): Promise<void> {
  const admin = testKafka({ brokers: [bootstrap] }).admin();
  await admin.connect();
  const isIn = async () =>
    (await admin.describeCluster()).brokers.some(({ nodeId }) => nodeId === id);
  await eventually(isIn, `broker ${id} is in the cluster`);
  await admin.disconnect();
}
