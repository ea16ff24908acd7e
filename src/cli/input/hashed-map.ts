import { hash } from 'node:crypto';

const FIRST_SLOTS = 2 ** 16;
/** The share of slots in use at which their number doubles. */
const MAX_LOAD = 0.6;

/**
 * A map from texts to numbers that keeps 64 bits of a hash in place of each text. A Map of V8 can
 * have 16 million entries only. The chance that two of 10 million texts have the same hash is 3 in
 * a million.
 * Cost: 27 to 54 bytes an entry, outside the heap of V8.
 */
export class HashedMap {
  #size = 0;
  /**
   * The hash in each slot, 0 for an empty slot. A hash selects a slot; if another hash is there,
   * the search goes on to the next slots.
   */
  #keys = new BigUint64Array(FIRST_SLOTS);
  #values = new Float64Array(FIRST_SLOTS);

  get size(): number {
    return this.#size;
  }

  get(text: string): number | undefined {
    const slot = this.#slotOf(keyOf(text));
    return this.#keys[slot] === 0n ? undefined : this.#values[slot];
  }

  set(text: string, value: number): void {
    this.#put(keyOf(text), value);
    if (this.#size > MAX_LOAD * this.#keys.length) this.#grow();
  }

  #put(key: bigint, value: number): void {
    const slot = this.#slotOf(key);
    if (this.#keys[slot] === 0n) this.#size += 1;
    this.#keys[slot] = key;
    this.#values[slot] = value;
  }

  #slotOf(key: bigint): number {
    const keys = this.#keys;
    let slot = Number(key % BigInt(keys.length));
    while (keys[slot] !== 0n && keys[slot] !== key) slot = (slot + 1) % keys.length;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new BigUint64Array(2 * keys.length);
    this.#values = new Float64Array(2 * keys.length);
    this.#size = 0;
    for (const [slot, key] of keys.entries()) if (key !== 0n) this.#put(key, values[slot] ?? 0);
  }
}

/** Never 0. */
function keyOf(text: string): bigint {
  return hash('sha256', text, 'buffer').readBigUInt64LE() || 1n;
}
