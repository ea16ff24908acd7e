/**
 * The layers of ranklog: layers.json lists the rooms from the bottom up, and what each may import.
 * Specs may import all that their tests need.
 */
// eslint-disable-next-line @typescript-eslint/no-require-imports -- the file is CommonJS
const ROOMS = Object.entries(require('./layers.json'));

const escaped = (name) => name.replaceAll('.', '\\.');
const within = (name) => (name.endsWith('.ts') ? `^${escaped(name)}$` : `^${name}/`);

/** The files of a room: not those of rooms in its folder. */
function filesOf(room) {
  const hasRooms = ROOMS.some(([other]) => other.startsWith(`${room}/`));
  return hasRooms ? `^${room}/[^/]+$` : `^${room}/`;
}

const ROOM_RULES = ROOMS.map(([room, imports]) => ({
  name: `${room}-imports-only-what-layers.json-allows`,
  severity: 'error',
  from: { path: filesOf(room), pathNot: '\\.spec\\.ts$' },
  to: { path: '^(src|libs)/', pathNot: [filesOf(room), ...imports.map(within)] },
}));

const lib = (name) => `^libs/${name}/`;
const CLIENTS_AND_NEST = '^node_modules/(@nestjs/|kafkajs|ioredis|rxjs)';

module.exports = {
  forbidden: [
    ...ROOM_RULES,
    {
      name: 'libs-never-import-src', // not even their specs
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^src/' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
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
      name: 'contracts-know-no-client',
      severity: 'error',
      from: { path: lib('contracts') },
      to: { path: CLIENTS_AND_NEST },
    },
    {
      name: 'only-nestjs-and-src-import-dtos', // others load no decorators
      severity: 'error',
      from: { path: '^libs/', pathNot: [lib('contracts/dto'), lib('nestjs')] },
      to: { path: lib('contracts/dto') },
    },
    {
      name: 'board-store-knows-no-kafka',
      severity: 'error',
      from: { path: lib('board-store') },
      to: { path: '^node_modules/(kafkajs|@nestjs/)' },
    },
    {
      name: 'kafka-batch-knows-no-redis',
      severity: 'error',
      from: { path: lib('kafka-batch') },
      to: { path: '^node_modules/ioredis' },
    },
    {
      name: 'client-knows-no-redis',
      severity: 'error',
      from: { path: lib('client') },
      to: { path: '^node_modules/(ioredis|@nestjs/)' },
    },
    {
      name: 'libs-are-entered-by-their-imports', // of package.json
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^libs/(?!(.+/index|board/time|kafka-batch/nest)\\.ts$)' },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
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
