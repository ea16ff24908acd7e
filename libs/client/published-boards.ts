import type { KafkaRecord } from '#kafka-batch';

/** What is read of a definition record. Fields of `publish` at their defaults are missing. */
interface StoredRecord {
  readonly board?: string;
  readonly since: number;
  readonly definition: { readonly publish?: Readonly<Record<string, unknown>> } | null;
}

/** Fields of `publish` that keep rank changes from being published. */
const RESTRICTIONS = ['rankChanges', 'windows', 'dimensions'];

/** Which boards publish every rank change, by the records of the definitions topic. */
export class PublishedBoards {
  readonly #newest = new Map<string, StoredRecord>();

  take({ value }: KafkaRecord): void {
    const record = JSON.parse(value?.toString() ?? '{}') as StoredRecord;
    if (record.board === undefined) return; // the settings of the ranklog
    const known = this.#newest.get(record.board);
    if (known === undefined || known.since <= record.since) this.#newest.set(record.board, record);
  }

  /** False also for a board without a live definition. */
  publishesAll(board: string): boolean {
    const definition = this.#newest.get(board)?.definition ?? null;
    const publish = definition?.publish ?? {};
    return definition !== null && RESTRICTIONS.every((field) => publish[field] === undefined);
  }
}
