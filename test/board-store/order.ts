import type { GenerationStore, Lease, Shadow, UnorderedView } from '#board-store';

/** Makes the order of a shadow in steps, as who builds it does once it is near the live applied offsets; answers how many. */
export async function order(
  generations: GenerationStore,
  lease: Lease,
  shadow: Shadow,
  mostPlayers = 2_000,
): Promise<number> {
  let views: readonly UnorderedView[] = [];
  for (let steps = 1; ; steps++) {
    const outcome = await generations.order(lease, shadow, { views, mostPlayers });
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    ({ views } = outcome);
    if (views.length === 0) return steps;
  }
}
