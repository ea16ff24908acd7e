/**
 * The layers of ranklog: imports run downwards only. src may import all libraries; the libraries import:
 *
 *   nestjs  ->  client       ->  kafka-batch
 *                            ->  contracts
 *           ->  board-store  ->  contracts  ->  board
 *   http    ->  board-store
 */
const lib = (name) => `^libs/${name}/`;
const CLIENTS_AND_NEST = '^node_modules/(@nestjs/|kafkajs|ioredis|rxjs)';

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'libs-never-import-src',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^src/' },
    },
    {
      name: 'product-never-imports-tests',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'board-is-pure',
      severity: 'error',
      from: { path: lib('board') },
      to: { path: CLIENTS_AND_NEST },
    },
    {
      name: 'board-is-the-bottom',
      severity: 'error',
      from: { path: lib('board') },
      to: { path: '^libs/(?!board/)' },
    },
    {
      name: 'contracts-import-board-only',
      severity: 'error',
      from: { path: lib('contracts') },
      to: { path: '^libs/(?!(contracts|board)/)' },
    },
    {
      name: 'contracts-know-no-client',
      severity: 'error',
      from: { path: lib('contracts') },
      to: { path: CLIENTS_AND_NEST },
    },
    {
      name: 'board-store-knows-no-kafka',
      severity: 'error',
      from: { path: lib('board-store') },
      to: { path: '^(libs/(kafka-batch|client|nestjs)/|node_modules/(kafkajs|@nestjs/))' },
    },
    {
      name: 'kafka-batch-knows-no-boards',
      severity: 'error',
      from: { path: lib('kafka-batch') },
      to: { path: '^(libs/(?!kafka-batch/)|node_modules/ioredis)' },
    },
    {
      name: 'client-knows-no-redis',
      severity: 'error',
      from: { path: lib('client') },
      to: { path: '^(libs/(board-store|nestjs)/|node_modules/(ioredis|@nestjs/))' },
    },
    {
      name: 'libs-are-entered-by-their-imports', // of package.json
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^libs/(?!(.+/index|board/time|kafka-batch/nest)\\.ts$)' },
    },
    {
      name: 'page-reads-through-http-alone',
      severity: 'error',
      from: { path: '^src/page/' },
      to: { path: '^(src/(?!page/)|libs/(?!http/))' },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      // Almost all that product code imports is bundled, so package.json has it among the devDependencies, with the tools.
      name: 'product-imports-no-tools',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^node_modules/(@jest|@nestjs/testing|@swc|esbuild|execa|fast-check|get-port|luxon|rollup|semver|typescript)',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['ranklog-source', 'import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.cjs', '.json'],
    },
  },
};
