// @ts-check
import shared from '../../jest.config.mjs';

const system = shared.projects.find(({ displayName }) => displayName === 'system');

/** The long fault suite alone: see scripts/test-faults.mjs. */
export default {
  ...system,
  displayName: 'faults',
  rootDir: '../..',
  testMatch: ['<rootDir>/test/faults/long-run.ts'],
};
