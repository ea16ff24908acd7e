export interface SentEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/** Reads server-sent events as a browser's EventSource does, without its reconnects. */
export class EventReader {
  readonly events: SentEvent[] = [];
  /** The id to resume from. */
  lastId = '';
  heartbeats = 0;
  ended = false;
  readonly #abort = new AbortController();

  private constructor() {}

  /** @throws unless the answer is 200 */
  static async open(url: string, lastId = ''): Promise<EventReader> {
    const reader = new EventReader();
    const response = await fetch(url, {
      headers: { accept: 'text/event-stream', ...(lastId !== '' && { 'last-event-id': lastId }) },
      signal: reader.#abort.signal,
    });
    // On a busy machine, the request was sent too late.
    if (response.status === 408) return EventReader.open(url, lastId);
    if (response.status !== 200 || response.body === null)
      throw new Error(`${url}: ${response.status} ${await response.text()}`);
    reader.lastId = lastId;
    reader.#read(response.body).catch(() => (reader.ended = true));
    return reader;
  }

  /** Breaks the connection. What arrived is kept. */
  close(): void {
    this.#abort.abort();
  }

  of(type: string): SentEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const bytes of body) {
      const blocks = (rest + decoder.decode(bytes, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) if (!this.#abort.signal.aborted) this.#take(block);
    }
    this.ended = true;
  }

  #take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
    const [type, id, data] = [field('event'), field('id'), field('data')];
    if (id !== '') this.lastId = id;
    if (block.startsWith(':')) this.heartbeats += 1;
    if (data !== '') this.events.push({ type, id, data });
  }
}
