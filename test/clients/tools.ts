import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DEFAULT_RELEASE, kafkaClasspath } from '#servers';
import { unpackedPackages } from '../../scripts/debian.mjs';
import { SERVERS } from '../../scripts/services/clone.mjs';
import { runCommand } from '../support/project.js';

/** The versions that the snippets are run with. */
const PYTHON_PACKAGES = ['kafka-python==3.0.12', 'confluent-kafka==2.16.1'];

/** A program that runs snippets, and what its environment needs. */
export interface Tool {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Python with the packages of the snippets, in a virtual environment that is made once. */
async function python(): Promise<Tool> {
  const folder = SERVERS.file('python-clients');
  const command = path.join(folder, 'bin', 'python');
  if (!existsSync(command)) await required('python3', ['-m', 'venv', folder]);
  await required(command, ['-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES]);
  return { command, args: [], env: { PYTHONUNBUFFERED: '1' } };
}

/** Java compiles a single file by itself if it is a JDK. */
async function java(): Promise<Tool> {
  await required('javac', ['-version']);
  return { command: 'java', args: ['-cp', await kafkaClasspath(SERVERS, DEFAULT_RELEASE)] };
}

/** A shell with kcat of the PATH, else with that of Debian. */
async function kcat(): Promise<Tool> {
  const shell = { command: 'bash', args: ['-e'] };
  if (spawnSync('kcat', ['-V']).status === 0) return shell;
  const folder = await unpackedPackages('kcat', ['kcat', 'librdkafka1', 'libyajl2']);
  if (folder === undefined) throw new Error('kcat is not installed');
  const libraries = path.join(folder, 'usr', 'lib');
  const [platform = ''] = readdirSync(libraries);
  const PATH = `${path.join(folder, 'usr', 'bin')}:${process.env['PATH'] ?? ''}`;
  const tool = { ...shell, env: { PATH, LD_LIBRARY_PATH: path.join(libraries, platform) } };
  await required('kcat', ['-V'], tool.env);
  return tool;
}

async function curl(): Promise<Tool> {
  await required('curl', ['--version']);
  return { command: 'bash', args: ['-e'] };
}

async function required(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const { exitCode, stderr } = await runCommand(command, args, { env: { ...process.env, ...env } });
  if (exitCode !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim()}`);
}

const TOOLS = { python, java, kcat, curl };

/** A tool; undefined, with a line on standard error, if it is missing and can't be fetched. */
export async function toolOr(name: keyof typeof TOOLS): Promise<Tool | undefined> {
  try {
    return await TOOLS[name]();
  } catch (error) {
    process.stderr.write(`skipping the snippets of ${name}: ${(error as Error).message}\n`);
    return undefined;
  }
}
