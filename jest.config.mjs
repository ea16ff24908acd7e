/** @type {import('jest').Config} */
const shared = {
  testEnvironment: 'node',
  // The sources, not dist: see "imports" in package.json.
  testEnvironmentOptions: { customExportConditions: ['ranklog-source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'mjs', 'js', 'cjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.services', '<rootDir>/.ranklog'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  setupFiles: ['reflect-metadata'],
};

/**
 * `unit` needs no server, `redis` a Redis, `page` also a Chromium, the others a Kafka and a Redis:
 * their setups start them.
 */
export default {
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/{src,libs}/**/*.spec.ts'] },
    {
      ...shared,
      displayName: 'redis',
      testMatch: ['<rootDir>/test/{board-store,model,query/reads}/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/redis-setup.mjs',
    },
    {
      ...shared,
      displayName: 'system',
      testMatch: [
        '<rootDir>/test/!(board-store|model|query|packages|page|clients)/**/*.test.ts',
        '<rootDir>/test/query/!(reads)/**/*.test.ts',
      ],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
    },
    {
      ...shared,
      displayName: 'packages',
      testMatch: ['<rootDir>/test/packages/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
    },
    {
      ...shared,
      displayName: 'clients',
      testMatch: ['<rootDir>/test/clients/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
    },
    {
      ...shared,
      displayName: 'page',
      testMatch: ['<rootDir>/test/page/**/*.test.ts'],
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
    },
  ],
  testSequencer: './test/support/sequencer.mjs',
  // Long enough for a busy machine, short enough to end a test that hangs.
  testTimeout: 300_000,
};
