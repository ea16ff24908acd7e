import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { check, type Verdict } from './check/check.js';
import { pageProblems } from './check/pages.js';
import { faultNamed } from './faults/all.js';
import { retryAll } from './faults/retries.js';
import { Load } from './load.js';
import { planText, randomOf, type Plan } from './plan.js';
import type { OwnKafka } from './world/own-kafka.js';
import { Reads } from './world/reads.js';
import { allAnnounced, allApplied, readFacts } from './world/read-facts.js';
import { World } from './world/world.js';

/** What a test run did, and its verdict. */
export interface RunReport {
  readonly plan: Plan;
  readonly seconds: number;
  readonly tally: ReadonlyMap<string, number>;
  readonly verdict: Verdict;
}

const SECONDS_TO_PUBLISH_ALL = 240;
/** After each fault, ingest has to publish this many records. */
const RECORDS_AFTER_A_FAULT = 20;

/**
 * Runs a plan on a Redis and workers of its own, and checks the results. Prints lines with `say`.
 */
export async function runPlan(
  kafka: OwnKafka,
  plan: Plan,
  say: (line: string) => void,
): Promise<RunReport> {
  const begin = performance.now();
  const time = () => ((performance.now() - begin) / 1_000).toFixed(1).padStart(6);
  say(planText(plan));
  const note = (line: string) => say(`${time()} s  ${line}`);
  const brokers = plan.steps.map(({ fault }) => faultNamed(fault).brokers ?? 1);
  await kafka.grow(Math.max(plan.brokers, ...brokers));
  const world = await World.create(kafka, plan, note);
  try {
    const verdict = await carryOut(world, plan);
    const seconds = (performance.now() - begin) / 1_000;
    if (verdict.problems.length > 0) say(`logs of the workers: ${await keepLogs(world, plan)}`);
    return { plan, seconds, tally: world.tally, verdict };
  } finally {
    await world.remove();
  }
}

const NOTHING_CHECKED = {
  records: 0,
  results: 0,
  playerChanges: 0,
  deadLetters: 0,
  retries: 0,
  announcements: 0,
};

async function carryOut(world: World, plan: Plan): Promise<Verdict> {
  try {
    // A single Redis moves to other ports, and a fault waits until nobody is connected to it.
    const reads = world.kind === 'single' ? undefined : new Reads(world, randomOf(plan, 'reads'));
    const load = await doHarm(world, plan, reads).finally(() => reads?.stop());
    const facts = await readFacts(world, load.sent);
    world.note('all is read');
    const verdict = check(world.topics.scoreEvents, facts, world.losses);
    const pages = reads?.pages ?? [];
    const readProblems = [...(reads?.problems ?? []), ...pageProblems(pages, facts.rankChanges)];
    world.note('all is checked');
    const problems = [...unexpectedEnds(world), ...readProblems, ...verdict.problems];
    return { ...verdict, problems };
  } catch (error) {
    const problem = error instanceof Error ? String(error.stack) : String(error);
    const problems = [...unexpectedEnds(world), problem, ...(await diagnosis(world))];
    return { ...NOTHING_CHECKED, problems };
  }
}

/**
 * Runs all steps of the plan under load; returns the load when everything is published and applied.
 */
async function doHarm(world: World, plan: Plan, reads: Reads | undefined): Promise<Load> {
  for (let worker = 0; worker < plan.workers; worker++) await world.addWorker();
  const random = randomOf(plan, 'load');
  const target = {
    kafka: world.client,
    topic: world.topics.scoreEvents,
    isStamped: world.announces,
  };
  const load = new Load(target, random, (what) => {
    world.count(what);
  });
  await load.start();
  reads?.start();
  try {
    for (const [index, { fault, after }] of plan.steps.entries()) {
      await world.publishedMore(after);
      if (index === Math.floor(plan.steps.length / 2)) await verify(world);
      await faultNamed(fault).run(world, randomOf(plan, index));
      await world.publishedMore(RECORDS_AFTER_A_FAULT);
    }
  } catch (error) {
    await load.stop().catch(() => undefined); // the first error says more
    throw error;
  }
  await load.stop();
  await world.publishedTo(await world.eventEnds(), SECONDS_TO_PUBLISH_ALL);
  await retryAll(world);
  await world.publishedTo(await world.eventEnds(), SECONDS_TO_PUBLISH_ALL);
  await allApplied(world);
  world.note('all is published');
  await verify(world);
  if (world.announces) await allAnnounced(world);
  return load;
}

/** @throws if `boards verify` finds a difference between the boards and the log */
async function verify(world: World): Promise<void> {
  const command = await world.boards(['verify']);
  await command.output();
  world.count('verifications');
}

/** Writes the logs of all workers to a folder, and returns its path. */
async function keepLogs({ workers }: World, { seed }: Plan): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `ranklog-faults-seed-${seed}-`));
  for (const { name, log } of workers) await writeFile(path.join(folder, `${name}.log`), log);
  return folder;
}

function unexpectedEnds({ workers }: World): string[] {
  return workers
    .filter((worker) => worker.unexpectedEnd !== null)
    .map((worker) => `worker ${worker.name} ended by itself: ${worker.unexpectedEnd ?? ''}`);
}

/** The published position of each partition, and the last log lines of the workers. */
async function diagnosis(world: World): Promise<string[]> {
  const positions = await Promise.all([world.logEnds(), world.published()]).then(
    ([ends, published]) =>
      [...ends].map(
        ([partition, end]) =>
          `partition ${partition}: published ${published.get(partition) ?? 0} of ${end}`,
      ),
    (error: unknown) => [`no positions: ${String(error)}`],
  );
  const words = world.workers
    .filter((worker) => worker.isRunning || worker.unexpectedEnd !== null)
    .map((worker) => `last lines of worker ${worker.name}:\n${worker.lastLines}`);
  return [...positions, ...words];
}
