// @ts-check
import { setTimeout as delay } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { BenchProcess } from '../process.mjs';
import { boardsFile, cliOf } from '../ranklog.mjs';

const LOOK_EVERY_MS = 50;
const LONGEST_WAIT_MS = 180_000;

/**
 * @typedef {{ state: string, members: number, owners: Map<number, string> }} Look owners: the
 * member of each partition
 */
/**
 * @typedef {{ moved: Set<number>, rebalanceMs: number }} Changes partitions that got another
 * member; time without a stable group
 */

/** @type {Look} */
const NOTHING_SEEN = { state: 'unknown', members: 0, owners: new Map() };

/** The processes `ranklog start` of a sandbox, and their consumer group. */
export class ProcessGroup {
  /** @type {BenchProcess[]} */
  processes = [];
  #last = NOTHING_SEEN;
  /** @type {Map<number, string>} member by partition, when the group was stable last */
  #owners = new Map();
  /** @type {Changes} */
  #changes = { moved: new Set(), rebalanceMs: 0 };
  #isWatching = true;
  #watching;

  /** @param {import('../sandbox.mjs').Sandbox} sandbox */
  constructor(sandbox) {
    this.sandbox = sandbox;
    this.env = sandbox.env(boardsFile());
    this.#watching = this.#watch();
  }

  start() {
    const process = new BenchProcess([cliOf(), 'start'], this.env);
    this.processes.push(process);
    return process;
  }

  /** @param {BenchProcess} process @param {NodeJS.Signals} signal */
  async end(process, signal) {
    this.processes = this.processes.filter((other) => other !== process);
    await process.end(signal);
  }

  async close() {
    this.#isWatching = false;
    await this.#watching;
    await Promise.all(this.processes.map((process) => process.end('SIGKILL')));
  }

  /**
   * Waits until the group has so many members and is stable, with a member for every partition.
   * @param {number} [members] default: one for each process
   */
  async settled(members = this.processes.length) {
    const end = performance.now() + LONGEST_WAIT_MS;
    this.#last = NOTHING_SEEN;
    for (;;) {
      await delay(LOOK_EVERY_MS);
      const { state, members: found, owners } = this.#last;
      const isComplete = found === members && owners.size === this.sandbox.partitions;
      if (state === 'Stable' && isComplete) return;
      for (const process of this.processes) await process.checkRunning();
      if (performance.now() > end)
        throw new Error(`the group is ${state}, with ${found} members instead of ${members}`);
    }
  }

  /** What has happened to the group since the last call. */
  takeChanges() {
    const changes = this.#changes;
    this.#changes = { moved: new Set(), rebalanceMs: 0 };
    return changes;
  }

  async #watch() {
    let before = performance.now();
    while (this.#isWatching) {
      await delay(LOOK_EVERY_MS);
      const look = await this.#look().catch(() => undefined); // the coordinator may be busy
      if (look === undefined) continue;
      const now = performance.now();
      if (look.state === 'Stable') this.#compare(look.owners);
      else this.#changes.rebalanceMs += now - before;
      before = now;
      this.#last = look;
    }
  }

  /** @param {Map<number, string>} owners */
  #compare(owners) {
    for (const [partition, owner] of owners)
      if (this.#owners.get(partition) !== owner) this.#changes.moved.add(partition);
    this.#owners = owners;
  }

  /** @returns {Promise<Look>} */
  async #look() {
    const { groups } = await this.sandbox.admin.describeGroups([this.sandbox.name]);
    const { state = '', members = [] } = groups[0] ?? {};
    /** @type {Map<number, string>} */
    const owners = new Map();
    for (const { memberId, memberAssignment } of state === 'Stable' ? members : []) {
      const decoded = kafkajs.AssignerProtocol.MemberAssignment.decode(memberAssignment);
      for (const partition of decoded?.assignment[this.sandbox.topics.scoreEvents] ?? [])
        owners.set(partition, memberId);
    }
    return { state, members: members.length, owners };
  }
}
