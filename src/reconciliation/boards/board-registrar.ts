import { Inject, Injectable } from '@nestjs/common';
import { definitionText, withVoids, type BoardDefinition } from '#board';
import type { Boards, LiveBoard } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { PROCESS_OPTIONS, type ProcessOptions } from '../../infra/config.module.js';
import { DefinitionsTopic, type UnreadableDefinition } from '../../infra/definitions-topic.js';
import { claimIdentity } from '../../infra/identity.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { Stores } from '../../infra/stores.js';
import { startsOfUnreadLog } from '../runs/log-history.js';
import { readBoardsFile } from './read-boards-file.js';

/** By board: the time of its last promotion or removal, in us by the clock of Redis. */
type Promotions = ReadonlyMap<string, number>;

/**
 * Registers the boards of the definitions topic in Redis, and boards of the boards file that the
 * topic lacks. So instances with an old and a new file do not undo each other's changes. Also
 * writes the definitions that went live in Redis to the topic.
 */
@Injectable()
export class BoardRegistrar {
  /** The boards of the file, as of the last successful read. */
  #ofFile: readonly BoardDefinition[] | undefined;
  /** The records of the definitions topic, as this process last read or wrote them. */
  #recorded = new Map<string, DefinitionRecord>();
  #wanted = new Map<string, BoardDefinition>();
  #live: ReadonlyMap<string, LiveBoard> = new Map();
  /** The live boards whose definitions were compared with the file. */
  #compared: ReadonlySet<string> = new Set();

  constructor(
    @Inject(Stores) private readonly stores: Pick<Stores, 'store' | 'continuity'>,
    private readonly definitions: DefinitionsTopic,
    private readonly kafka: KafkaConnection,
    @Inject(PROCESS_OPTIONS) private readonly options: Pick<ProcessOptions, 'settings' | 'logger'>,
  ) {}

  /** The definitions that were registered last. Boards without a generation are built with them. */
  get wanted(): ReadonlyMap<string, BoardDefinition> {
    return this.#wanted;
  }

  /** The live boards, as of the last turn of `keepRegistered`. */
  get live(): ReadonlyMap<string, LiveBoard> {
    return this.#live;
  }

  /**
   * Registers boards again that Redis has lost, starts a resync of a shard that has lost a
   * promotion, and writes records that the definitions topic lacks. Also logs how boards that went
   * live meanwhile differ from the boards file.
   */
  async keepRegistered(): Promise<void> {
    const { store } = this.stores;
    // Read before the boards: the next call finds promotions that happen between the two reads.
    const promotions = await store.promotions();
    const boards = await store.boards();
    this.#live = boards.live;
    // If a process creates a removed board again, perhaps differently, that process builds it.
    for (const board of boards.removed) this.#wanted.delete(board);
    this.#logDifferences(boards.live);

    const areLost = this.#isMissingAny(boards) || !(await store.areRegistered());
    if (areLost) {
      await this.register();
      return;
    }
    if (await this.#hasLostPromotions(promotions, boards)) return;
    await this.#recordPromotions(promotions, boards);
  }

  /**
   * Writes a live definition again if an older record of the board came after it: compaction would
   * keep only that older record.
   */
  async repairDefinitions(): Promise<void> {
    for (const board of await this.definitions.repair())
      this.options.logger.info(
        `board "${board}": wrote its definition to Kafka again, because an older one came after it`,
      );
  }

  /**
   * Registers the boards. Safe to repeat.
   * @throws BoardsFileError, BoardsFileMissingError, OtherIdentityError, and errors of Kafka and
   * Redis
   */
  async register(): Promise<void> {
    const { store } = this.stores;
    const ofFile = await this.#readFile();
    const recorded = await claimIdentity(store, this.definitions);
    this.#recorded = recorded;
    const { live: known } = await store.boards();
    const { unreadable } = this.definitions;

    const ofTopic = [...recorded.values()].flatMap(({ definition }) => definition ?? []);
    const onlyInFile = ofFile.filter(({ board }) => !recorded.has(board));
    const wanted = [...ofTopic, ...onlyInFile].filter(({ board }) => !unreadable.has(board));
    // No earlier definition and no boards file may replace a live definition that can't be read.
    const waiting = [...unreadable.values()].filter(
      ({ board, since }) => since > 0 || ofFile.some((definition) => definition.board === board),
    );

    const hasNew = wanted.some(({ board }) => !recorded.has(board) && !known.has(board));
    const topic = this.kafka.topics.scoreEvents;
    const { group } = this.definitions.identity;
    const begins = hasNew ? await startsOfUnreadLog(this.kafka, topic, group) : undefined;
    const waitingNames = waiting.map(({ board }) => board);
    const { live } = await store.registerBoards(wanted, recorded, begins, waitingNames);
    this.#wanted = new Map(wanted.map((definition) => [definition.board, definition]));

    for (const board of this.#wanted.keys())
      this.#logNew(board, { before: known.get(board), now: live.get(board) });
    for (const definition of waiting) if (!live.has(definition.board)) this.#logWaiting(definition);
    this.#logRemoved(ofFile.filter(({ board }) => !unreadable.has(board)));
    this.#compared = new Set();
    this.#logDifferences(live);

    await this.#recordPromotions(await store.promotions(), await store.boards());
  }

  async #readFile(): Promise<readonly BoardDefinition[]> {
    try {
      this.#ofFile = await readBoardsFile(this.options.settings.boards);
    } catch (error) {
      if (this.#ofFile === undefined || !(error instanceof Error)) throw error;
      this.options.logger.warn(
        `${error.message}; going on with the boards that the file had before`,
      );
    }
    return this.#ofFile;
  }

  #isMissingAny({ live, building, removed }: Boards): boolean {
    return [...this.#wanted.keys()].some(
      (board) => !live.has(board) && !building.has(board) && !removed.has(board),
    );
  }

  /**
   * Whether shards lack promotions known to this process; starts a resync of these shards. Ingest
   * notices a lost promotion only if its record was in Kafka at the time of the last resync.
   */
  async #hasLostPromotions(promotions: Promotions, boards: Boards): Promise<boolean> {
    const lost = [...this.#recorded.values()].filter(({ board, since, definition }) => {
      const isExpected = definition !== null || boards.live.has(board);
      return isExpected && (promotions.get(board) ?? 0) < since;
    });

    const shards = new Set(lost.map(({ board }) => this.stores.store.shardOf(board)));
    for (const shard of shards) await this.#startResync(shard);
    return lost.length > 0;
  }

  /** Begins a resync. The next process that applies events begins another one, and ends it. */
  async #startResync(shard: number): Promise<void> {
    const { continuity } = this.stores;
    const seen = await continuity.continuity(shard);
    const begun = seen.isContinued ? await continuity.beginResync(shard, seen) : undefined;
    if (begun === undefined) return; // a resync is due anyway

    await continuity.release(begun);
    this.options.logger.warn(
      `shard ${shard} has lost a promotion or removal; it is compared with Kafka`,
    );
  }

  /**
   * Writes a record for each board whose last promotion or removal the topic lacks: new boards, and
   * boards whose builder was killed between the promotion and its record.
   */
  async #recordPromotions(promotions: Promotions, boards: Boards): Promise<void> {
    if (this.#unrecorded(promotions, boards).length === 0) return;

    this.#recorded = await this.definitions.readAll();
    const records = this.#unrecorded(promotions, boards);
    await this.definitions.write(records);
    for (const record of records) {
      const { board, generation, definition } = record;
      this.#recorded.set(board, record);
      const what =
        definition === null ? 'its removal' : `the definition of generation ${generation}`;
      this.options.logger.info(`board "${board}": ${what} is written to Kafka now`);
    }
  }

  /** The records of promotions and removals that the topic lacks. */
  #unrecorded(promotions: Promotions, boards: Boards): DefinitionRecord[] {
    const records: DefinitionRecord[] = [];
    for (const [board, since] of promotions) {
      const known = this.#recorded.get(board);
      const unreadableSince = this.definitions.unreadable.get(board)?.since ?? 0;
      if (since <= Math.max(known?.since ?? 0, unreadableSince)) continue;

      const live = boards.live.get(board);
      const isRemoved = boards.removed.has(board) && !boards.building.has(board);
      if (live !== undefined) records.push({ ...live, since });
      else if (isRemoved && known?.definition) records.push({ ...known, since, definition: null });
    }
    return records;
  }

  #logNew(board: string, { before, now }: Record<'before' | 'now', LiveBoard | undefined>): void {
    if (now === undefined)
      this.options.logger.info(
        `board "${board}" has no live generation yet: it will be built from the log`,
      );
    else if (now.generation !== before?.generation)
      this.options.logger.info(
        `board "${board}" is live as generation ${now.generation}`,
        now.starts && { startsAt: Object.fromEntries(now.starts) },
      );
  }

  #logWaiting({ board, problem }: UnreadableDefinition): void {
    this.options.logger.error(
      `board "${board}" waits, and so do its events: Redis has lost it, and its definition in ` +
        `Kafka can't be read: ${problem}. ` +
        'Start the version of ranklog that wrote it, or build the board by the boards file with ' +
        '"ranklog boards apply": that counts voided records again',
    );
  }

  #logRemoved(ofFile: readonly BoardDefinition[]): void {
    for (const { board } of ofFile) {
      if (this.#wanted.has(board)) continue;
      this.options.logger.warn(
        `board "${board}" of ${this.options.settings.boards} was removed, and stays so ` +
          'until "ranklog boards apply" creates it again',
      );
    }
  }

  /** Logs how live boards differ from the file: they may have been built from another file. */
  #logDifferences(live: ReadonlyMap<string, LiveBoard>): void {
    for (const { board, generation, definition } of live.values()) {
      if (this.#compared.has(board)) continue;

      const ofFile = this.#ofFile?.find((wanted) => wanted.board === board);
      if (ofFile === undefined)
        this.options.logger.info(
          `board "${board}" is live but not in ${this.options.settings.boards}; it stays`,
        );
      else if (definitionText(withVoids(ofFile, definition.voids)) !== definitionText(definition))
        this.options.logger.warn(
          `board "${board}" differs in ${this.options.settings.boards} from the live ` +
            `generation ${generation}, which remains in use; "ranklog boards plan" shows what ` +
            'differs, "ranklog boards apply" builds it from the log',
        );
    }
    this.#compared = new Set(live.keys());
  }
}
