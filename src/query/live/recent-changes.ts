import { formatTime, type RankChange } from '#contracts';

/** A position in the topic of rank changes: by partition, the offset of the next record. */
export type LogPosition = readonly number[];

/** The id of an event: the offsets in base 36, such as `0.2s.1`. */
export function positionText(position: LogPosition): string {
  return position.map((offset) => offset.toString(36)).join('.');
}

/**
 * The position of an id; new partitions begin at 0. Returns undefined if the text is no position in
 * a topic with this number of partitions.
 */
export function parsePosition(text: string, partitions: number): LogPosition | undefined {
  const offsets = text.split('.');
  const areValid = offsets.every((offset) => /^[0-9a-z]{1,10}$/.test(offset));
  if (!areValid || offsets.length > partitions) return undefined;
  return Array.from({ length: partitions }, (_, index) => parseInt(offsets[index] ?? '0', 36));
}

/** A rank change and its place in the topic of rank changes. */
interface CommittedChange extends Pick<RankChange, 'board' | 'playerId'> {
  readonly partition: number;
  readonly offset: number;
  /** When it was published, in ms. */
  readonly timestamp: number;
  /** The event of the rank change, without its id. */
  readonly event: Buffer;
}

export const MOST_CHANGES = 10_000;
const MOST_OF_A_PLAYER = 1_000;
const MOST_BYTES = 16 * 1_048_576;

/** The last rank changes that were read, in the order of reading: at most 10,000, and 16 MiB. */
export class RecentChanges {
  readonly #changes: CommittedChange[] = [];
  #bytes = 0;
  /** By partition: all rank changes from this offset on are here. */
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
    if (this.#changes.length === 0) return null;

    const oldest = new Map<number, number>();
    for (const { partition, timestamp } of this.#changes)
      if (!oldest.has(partition)) oldest.set(partition, timestamp);

    let since = Math.min(...oldest.values());
    for (const [partition, timestamp] of oldest) {
      const isCut = this.#starts[partition] !== 0;
      if (isCut) since = Math.max(since, timestamp);
    }
    return formatTime(since);
  }

  /**
   * The last 1,000 rank changes of a player, oldest first.
   * Cost: O(changes kept).
   */
  ofPlayer(board: string, playerId: string): RankChange[] {
    const ofPlayer = this.#changes.filter((change) => concerns(change, board, playerId));
    ofPlayer.sort((a, b) => a.timestamp - b.timestamp); // partitions were not read in step
    return ofPlayer.slice(-MOST_OF_A_PLAYER).map(({ event }) => {
      return JSON.parse(event.toString('utf8', event.indexOf('{'))) as RankChange;
    });
  }

  /**
   * The rank changes of a board or player from a position on, each as its id and the shared event;
   * undefined if some were dropped. Checks this itself, because an earlier check of the caller may
   * be outdated.
   * Cost: O(changes kept).
   */
  since(
    position: LogPosition,
    board: string,
    playerId?: string,
  ): readonly (string | Buffer)[] | undefined {
    if (!this.reachBackTo(position)) return undefined;

    const parts: (string | Buffer)[] = [];
    const reached = [...position];
    for (const change of this.#changes) {
      const { partition, offset, event } = change;
      if (offset < (position[partition] ?? 0)) continue;
      reached[partition] = offset + 1;
      if (concerns(change, board, playerId)) parts.push(`id: ${positionText(reached)}\n`, event);
    }
    return parts;
  }

  /** Drops a tenth of the rank changes at once, because each removal moves all the others. */
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
