import { existsSync } from 'node:fs';
import { watchLauncher, type ServerName } from '#servers';
import { ROLES } from '../../config/roles.js';
import { loadSettings } from '../../config/settings.js';
import { createLogger } from '../../infra/logger.js';
import { Shutdown } from '../../infra/shutdown.js';
import { createTopics } from '../../infra/topics.js';
import { startApplication } from '../../main.js';
import { readBoardsFile } from '../../reconciliation/boards/read-boards-file.js';
import { readPlan } from '../../reconciliation/boards/read-plan.js';
import { DEV_FOLDER, DevServers, hasDevFolder } from '../dev/dev-servers.js';
import { hasLocalServers, isDefault, serversToStart, setDevSettings } from '../dev/dev-settings.js';
import { devText, variablesOf, type DevFacts } from '../dev/dev-text.js';
import { readText, watchFile } from '../dev/file-changes.js';
import { isStarterFile, sendSampleEvents, writeStarterFile } from '../dev/starter.js';
import { openKafka } from '../sessions/kafka-session.js';
import { openReconciliation } from '../sessions/reconciliation-session.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { describe } from '../text/failures.js';
import { boardsApply, boardsPlan } from './boards-apply.js';

interface DevOptions {
  readonly sample: boolean;
  readonly reset?: boolean;
  readonly yes?: boolean;
}

export async function dev(file: string | undefined, options: DevOptions): Promise<number> {
  if (file !== undefined) process.env['RANKLOG_BOARDS'] = file;
  const { settings, current } = loadSettings();
  const namesFile = !isDefault(current, 'boards');
  if (!namesFile && !existsSync(settings.boards)) {
    await writeStarterFile(settings.boards);
    say(`wrote ${settings.boards} with a first board`);
  }
  await readBoardsFile(settings.boards); // reports its problems before servers start

  const toStart = serversToStart(current);
  if (options.reset === true) await confirmReset(toStart, options);

  const shutdown = listenForEnd();
  const servers = toStart.length === 0 ? undefined : new DevServers(shutdown.signal);
  const reset = options.reset === true;
  const addresses = servers === undefined ? {} : await servers.start(toStart, { reset });
  // The servers of an interrupted start end with the process.
  if (addresses === undefined) return process.exit(EXIT.ok);

  try {
    await run({ addresses, namesFile, sample: options.sample }, shutdown);
  } catch (error) {
    if (!shutdown.signal.aborted) throw error;
  } finally {
    shutdown.finished();
    await servers?.stop();
  }
  // A pending attempt to connect would keep the process alive
  return process.exit(await shutdown.exitCode);
}

async function confirmReset(
  toStart: readonly ServerName[],
  { yes }: Pick<DevOptions, 'yes'>,
): Promise<void> {
  if (toStart.length < 2)
    throw new CommandError(
      '--reset deletes the data of a Kafka and a Redis that "ranklog dev" starts, and a ' +
        'setting names another one; leave out KAFKA_BROKERS and REDIS_URL',
      EXIT.usage,
    );
  if (yes === true || !hasDevFolder()) return;
  using cancellation = interruption();
  await confirmOnTerminal(
    `Delete the data of Kafka and Redis in ${DEV_FOLDER}?`,
    cancellation.signal,
    {
      command: 'dev --reset',
      instead: 'leave out --reset',
    },
  );
}

/** The shutdown of the process. A signal begins it, and so does the end of npm. */
function listenForEnd(): Shutdown {
  const { settings } = loadSettings();
  const logger = createLogger({ ...settings, logLevel: 'warn' });
  const force = () => process.exit(EXIT.no);
  const shutdown = new Shutdown({ timeoutMs: settings.shutdownTimeout, logger, force });
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => shutdown.onSignal(name));
  // After Ctrl-C, npm ends first. This must not count as a second request, which forces the end.
  const onLoss = () => {
    if (!shutdown.signal.aborted) shutdown.onSignal('SIGHUP');
  };
  process.on('SIGHUP', onLoss);
  // The terminal may be gone: the servers have to be stopped
  process.stderr.on('error', () => undefined);
  watchLauncher(onLoss);
  return shutdown;
}

interface Run extends Pick<DevFacts, 'addresses' | 'namesFile'> {
  readonly sample: boolean;
}

/** Runs all roles, and shows changes of the boards file, until the shutdown begins. */
async function run({ addresses, namesFile, sample }: Run, shutdown: Shutdown): Promise<void> {
  const settings = await setDevSettings(addresses);
  const { signal } = shutdown;
  await createMissingTopics();
  const logger = createLogger(settings);
  const application = await startApplication({ settings, logger, shutdown, roles: ROLES });
  try {
    // Read first, so that no change from now on is missed.
    const known = await readText(settings.boards);
    const definitions = await readBoardsFile(settings.boards);
    const sends = sample && hasLocalServers(settings) && (await isStarterFile(settings.boards));
    const facts = { settings, definitions, addresses, namesFile, sends };
    process.stdout.write(`\n${devText(facts)}\n\n`);
    const changed = new AbortController();
    const sending = sends
      ? sendSampleEvents(AbortSignal.any([signal, changed.signal]))
      : Promise.resolve();
    if (await hasChangedBoards()) await review(facts);
    const onChange = async () => {
      changed.abort();
      await review(facts);
    };
    await watchFile(settings.boards, known, onChange, signal);
    await sending;
  } finally {
    await application.close();
  }
}

async function createMissingTopics(): Promise<void> {
  await using kafka = await openKafka();
  await createTopics(kafka.admin, kafka.topics, kafka.settings);
}

/** Whether the boards file differs from boards that are live. New boards need no confirmation. */
async function hasChangedBoards(): Promise<boolean> {
  await using session = await openReconciliation();
  const definitions = await readBoardsFile(session.settings.boards);
  const plan = await readPlan({ ...session, topic: session.topics.scoreEvents }, definitions);
  return plan.boards.some(({ change }) => change === 'changed');
}

/** Shows the plan of the boards file. On a terminal, asks whether to apply it. */
async function review(facts: DevFacts): Promise<void> {
  try {
    if (process.stdin.isTTY && process.stderr.isTTY) await boardsApply({});
    else if ((await boardsPlan({})) === EXIT.no)
      say(`to apply it: ${[...variablesOf(facts), 'ranklog boards apply --yes'].join(' ')}`);
  } catch (error) {
    say(describe(error));
  }
}

function say(text: string): void {
  process.stderr.write(`ranklog: ${text}\n`);
}
