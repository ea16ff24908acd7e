import { formatTime, type RankChange } from '#contracts';

/**
 * A position in the topic of rank changes: by partition, the offset from which on records are still
 * to come.
 */
export type LogPosition = readonly number[];

/** The id of an event: the offsets in base 36, such as `0.2s.1`. */
export function positionText(position: LogPosition): string {
  return position.map((offset) => offset.toString(36)).join('.');
}

/**
 * The position of an id; new partitions begin at 0. undefined if the text is no position in a topic
 * of so many partitions.
 */
export function parsePosition(text: string, partitions: number): LogPosition | undefined {
  const offsets = text.split('.').map((word) => (/^[0-9a-z]{1,10}$/.test(word) ? word : ''));
  if (offsets.includes('') || offsets.length > partitions) return undefined;
  return Array.from({ length: partitions }, (_, index) => parseInt(offsets[index] ?? '0', 36));
}

/** A rank change and its place in the topic of rank changes. */
interface CommittedChange extends Pick<RankChange, 'board' | 'playerId'> {
  readonly partition: number;
  readonly offset: number;
  /** When it was published, in ms. */
  readonly timestamp: number;
  /** It as an event that lacks its id. */
  readonly event: Buffer;
}

export const MOST_CHANGES = 10_000;
const MOST_OF_A_PLAYER = 1_000;
const MOST_BYTES = 16 * 1_048_576;

/** The last rank changes that were read, in the order of reading: at most 10,000, and 16 MiB. */
export class RecentChanges {
  readonly #changes: CommittedChange[] = [];
  #bytes = 0;
  /** By partition, the offset from which on all rank changes are here. */
  readonly #starts: number[];

  constructor(start: LogPosition) {
    this.#starts = [...start];
  }

  add(change: CommittedChange): void {
    this.#changes.push(change);
    this.#bytes += change.event.length;
    while (this.#changes.length > MOST_CHANGES || this.#bytes > MOST_BYTES) this.#dropOldest();
  }

  /** Whether all rank changes from a position on are here. */
  reachBackTo(position: LogPosition): boolean {
    return position.every((offset, partition) => offset >= (this.#starts[partition] ?? 0));
  }

  /**
   * Since when all rank changes of all boards are here, as RFC 3339; null if none is kept.
   * Cost: O(changes kept).
   */
  get heldSince(): string | null {
    const newestFirst = this.#changes.toReversed();
    if (newestFirst.length === 0) return null;
    const oldest = new Map(newestFirst.map(({ partition, timestamp }) => [partition, timestamp]));
    const cut = [...oldest.keys()].filter((partition) => this.#starts[partition] !== 0);
    const since = [Math.min(...oldest.values()), ...cut.map((id) => oldest.get(id) ?? 0)];
    return formatTime(Math.max(...since));
  }

  /** The last 1,000 rank changes of a player, oldest first. Cost: O(changes kept). */
  ofPlayer(board: string, playerId: string): RankChange[] {
    return this.#changes
      .filter((change) => concerns(change, board, playerId))
      .sort((one, other) => one.timestamp - other.timestamp) // partitions were not read in step
      .slice(-MOST_OF_A_PLAYER)
      .map(({ event }) => JSON.parse(event.toString('utf8', event.indexOf('{'))) as RankChange);
  }

  /**
   * The rank changes of a board or player from a position on, each as its id and the shared event;
   * undefined if some were dropped. Checks it here, as a check before a wait would be outdated.
   * Cost: O(changes kept).
   */
  since(
    position: LogPosition,
    board: string,
    playerId?: string,
  ): readonly (string | Buffer)[] | undefined {
    if (!this.reachBackTo(position)) return undefined;
    const reached = [...position];
    return this.#changes.flatMap((change) => {
      const { partition, offset, event } = change;
      if (offset < (position[partition] ?? 0)) return [];
      reached[partition] = offset + 1;
      return concerns(change, board, playerId) ? [`id: ${positionText(reached)}\n`, event] : [];
    });
  }

  /** Drops a tenth at once, because each removal moves all that stay. */
  #dropOldest(): void {
    const dropped = this.#changes.splice(0, Math.ceil(this.#changes.length / 10));
    for (const { partition, offset, event } of dropped) {
      this.#bytes -= event.length;
      this.#starts[partition] = offset + 1;
    }
  }
}

function concerns(change: CommittedChange, board: string, playerId?: string): boolean {
  return change.board === board && (playerId === undefined || change.playerId === playerId);
}
