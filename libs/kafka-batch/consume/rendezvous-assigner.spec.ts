import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import kafkajs, { type Assigner } from 'kafkajs';
import { seededRandom } from '../../../test/support/seeded-random.js';
import { assignPartitions, rendezvousAssigner } from './rendezvous-assigner.js';

const { MemberAssignment, MemberMetadata } = kafkajs.AssignerProtocol;

const partitionsTo = (count: number) => Array.from({ length: count }, (_, partition) => partition);

function countsOf(assigned: ReadonlyMap<number, string>, members: readonly string[]): number[] {
  const owners = [...assigned.values()];
  return members.map((member) => owners.filter((owner) => owner === member).length);
}

describe('the assignment of partitions', () => {
  const members = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 12 });
  const partitions = fc.uniqueArray(fc.nat(200), { maxLength: 60 });

  it('gives each partition to one member, with equal numbers as far as possible, in whatever order they come', () => {
    fc.assert(
      fc.property(members, partitions, (ids, numbers) => {
        const assigned = assignPartitions(ids, numbers);
        expect([...assigned.keys()].sort()).toEqual([...numbers].sort());
        const counts = countsOf(assigned, ids);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(numbers.length);
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        const reversed = assignPartitions([...ids].reverse(), [...numbers].reverse());
        expect(new Map(numbers.map((partition) => [partition, reversed.get(partition)]))).toEqual(
          new Map(numbers.map((partition) => [partition, assigned.get(partition)])),
        );
      }),
    );
  });

  it('is empty without members', () => {
    expect(assignPartitions([], [0, 1])).toEqual(new Map());
  });

  /** As `kafkajs.PartitionAssigners.roundRobin`, which moves 85 of 96. */
  it.each([
    { members: 8, partitions: 96, most: 20 },
    { members: 3, partitions: 96, most: 38 },
    { members: 8, partitions: 12, most: 4 },
  ])(
    'moves at most $most of $partitions partitions, on average, in a rolling deploy of $members',
    (of) => {
      const { random, seed } = seededRandom();
      const numbers = partitionsTo(of.partitions);
      const newMember = () => `ranklog-${String(random()).slice(2)}`;
      let ids = Array.from({ length: of.members }, newMember);
      let before = assignPartitions(ids, numbers);
      let [steps, moves] = [0, 0];
      const step = (next: string[]) => {
        const after = assignPartitions(next, numbers);
        moves += numbers.filter((number) => before.get(number) !== after.get(number)).length;
        steps += 1;
        ids = next;
        before = after;
      };
      for (let deployed = 0; deployed < 25 * of.members; deployed++) {
        step(ids.slice(1));
        step([...ids, newMember()]);
      }
      expect({ seed, isFew: moves / steps <= of.most }).toEqual({ seed, isFew: true });
    },
  );
});

describe('the assigner', () => {
  const cluster = {
    findTopicPartitionMetadata: (topic: string) =>
      partitionsTo(topic === 'scores' ? 6 : 2).map((partitionId) => ({ partitionId })),
  };
  const create = rendezvousAssigner({ protocol: 'ours', userData: 'who' });
  const assigner: Assigner = create({ cluster } as unknown as Parameters<typeof create>[0]);
  const member = (memberId: string, ...topics: string[]) => {
    return { memberId, memberMetadata: assigner.protocol({ topics }).metadata };
  };

  it('carries the text of the member', () => {
    const { name, metadata } = assigner.protocol({ topics: ['scores'] });
    expect(name).toBe('ours');
    const { topics, userData } = MemberMetadata.decode(metadata)!;
    expect([topics, userData.toString()]).toEqual([['scores'], 'who']);
  });

  /** kafkajs gives partitions of the leader's topics to all members, which drop them. */
  it('gives members only partitions of their own topics', async () => {
    const members = [member('a', 'scores', 'others'), member('b', 'scores'), member('c', 'rest')];
    const assigned = await assigner.assign({ members, topics: ['scores', 'others'] });
    const found = assigned.map(({ memberId, memberAssignment }) => {
      const { assignment = {} } = MemberAssignment.decode(memberAssignment) ?? {};
      return [memberId, assignment['scores']?.length ?? 0, assignment['others']?.length ?? 0];
    });
    expect(found).toEqual([
      ['a', 3, 2],
      ['b', 3, 0],
      ['c', 0, 0],
    ]);
  });
});
