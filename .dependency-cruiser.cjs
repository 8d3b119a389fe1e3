/** The dependency rules of docs/architecture.md; each comment gives the reason. */
// Modules about runs, each of which may import those before it (docs/architecture.md, "Runs").
const IN_ORDER = [
  ...[
    'capacity',
    'agents',
    'runs',
    'calls',
    'promotion',
    'comparison',
    'case-history',
    'retention',
    'starts',
    'schedules',
    'alarms',
  ],
  ...['call-imports', 'run-ends', 'rejudging', 'results', 'agent-pages', 'execution', 'production-days', 'monitoring'],
];

module.exports = {
  forbidden: [
    ...IN_ORDER.slice(0, -1).map((module, index) => ({
      name: `${module}-imports-earlier-modules`,
      comment: 'A module is understandable with those before it, and without those after it.',
      severity: 'error',
      from: { path: `^src/modules/${module}/` },
      to: { path: `^src/modules/(${IN_ORDER.slice(index + 1).join('|')})/` },
    })),
    {
      name: 'no-cycles',
      comment: 'Files that import each other cannot be understood separately, and Nest would need forwardRef for them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'libs-do-not-import-the-service',
      comment:
        'A library must be usable and testable without the service, so it imports nothing from it. Its tests use simulators.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(src|test|bench|ormconfig)', pathNot: '^test/simulators/' },
    },
    {
      name: 'libs-without-framework',
      comment: 'The libraries must not depend on the choice of framework and ORM.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: 'node_modules/(@nestjs|typeorm)/' },
    },
    {
      name: 'libs-import-each-other-by-index',
      comment: 'A library must be free to change its internal files: other libraries import only its index.ts.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: { path: '^libs/', pathNot: ['^libs/$1/', '^libs/[^/]+/index\\.ts$', '^libs/[^/]+/testing/'] },
    },
    {
      name: 'libs-are-imported-by-index',
      comment:
        'What is not exported by the index of a library is an implementation detail; only test fixtures are shared.',
      severity: 'error',
      from: { path: '^(src|test|bench|ormconfig)' },
      to: { path: '^libs/', pathNot: ['^libs/[^/]+/index\\.ts$', '^libs/[^/]+/testing/'] },
    },
    {
      name: 'not-to-dev-dep',
      comment: 'An installation has no development dependencies, so production code must not import them.',
      severity: 'error',
      from: { path: '^(src|libs|ormconfig)', pathNot: '\\.spec\\.ts$|/testing/' },
      to: {
        dependencyTypes: ['npm-dev'],
        // Types are erased by the compiler.
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
    {
      name: 'platform-does-not-import-modules',
      comment: 'Modules depend on the platform; the platform must be understandable without them.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(modules|admin|bootstrap|cluster)/|^src/[^/]+\\.ts$' },
    },
    {
      name: 'modules-import-services-only',
      comment: "A module's tables and repository are private: other modules use its service or module file.",
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: '^src/modules/', pathNot: ['^src/modules/$1/', '\\.(service|module|entity)\\.ts$', '/dto/'] },
    },
    {
      name: 'modules-import-entities-as-types',
      comment: 'What a row has may be known to other modules; only its own module reads and writes rows.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: {
        path: '^src/modules/.+\\.entity\\.ts$',
        pathNot: '^src/modules/$1/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'published-shapes-are-shared-by-controllers',
      comment: 'Operations of several modules answer with a run or a call; services know such a shape as a type only.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/', pathNot: '\\.controller\\.ts$|/dto/' },
      to: { path: '^src/modules/.+/dto/', pathNot: '^src/modules/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'services-do-not-use-http',
      comment: 'Services are also called by jobs and by the command line.',
      severity: 'error',
      from: { path: '^src/modules/.*\\.(service|repository|entity)\\.ts$' },
      to: {
        path: '(^|node_modules/)(@nestjs/(platform-express|swagger)|express)/|^src/platform/(http|openapi|throttling)/',
      },
    },
    {
      name: 'entry-points-are-not-imported',
      comment: 'The entry points assemble the service, so modules and the platform do not import them.',
      severity: 'error',
      from: { path: '^src/(modules|platform)/' },
      to: { path: '^src/(main|app\\.setup|app\\.module|bootstrap/|processes/|admin/)' },
    },
    {
      name: 'start-imports-application',
      comment:
        'main → processes, admin → bootstrap → app.setup → app.module: each part is understandable without those before it.',
      severity: 'error',
      from: { path: '^src/(app\\.|bootstrap/)' },
      to: { path: '^src/(main\\.|processes/|admin/|bootstrap/)', pathNot: '^src/$1' },
    },
    {
      name: 'resources-do-not-import-their-parts',
      comment:
        'What the folders of a module share is in the module itself and imports none of them; only module file and controller do.',
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/[^/]+\\.ts$', pathNot: '\\.(module|controller)\\.ts$' },
      to: { path: '^src/modules/$1/[^/]+/', pathNot: '^src/modules/$1/dto/' },
    },
    {
      name: 'ormconfig-is-for-the-typeorm-cli',
      comment: "ormconfig.ts only serves TypeORM's command line: the service creates its data source in src/bootstrap.",
      severity: 'error',
      from: { path: '^(src|libs)/' },
      to: { path: '^ormconfig' },
    },
    {
      name: 'wires-in-the-media-thread-reach-no-http-client',
      comment:
        'What a wire does in the media thread must not wait for a network: one wire would delay the audio of all calls.',
      severity: 'error',
      from: { path: '^libs/simulation/transports/wires/(testing/)?[^/]+/wire\\.ts$' },
      to: { path: '^libs/outbound-http/|node_modules/(undici|ws|openai)/', reachable: true },
    },
    {
      name: 'a-double-and-its-wire-share-no-module',
      comment:
        'A fault that both sides share would not be found: a double is written from what the platform documents.',
      severity: 'error',
      from: {
        path: [
          '^test/simulators/[^/]+/double/',
          '^test/simulators/.+/server\\.ts$',
          '^test/simulators/(?!elevenlabs/).+/(messages|scripted|contract)\\.ts$',
          '/wires/testing/fixture-double/',
        ],
      },
      to: { path: '^(src|libs)/', pathNot: '/wires/testing/fixture-double/' },
    },
    {
      name: 'simulators-do-not-know-the-tester',
      comment: 'A simulator is the other side of a call; only its tests and what runs calls to it use the tester.',
      severity: 'error',
      from: { path: '^test/simulators/', pathNot: '\\.spec\\.ts$|/testing/|^test/simulators/model/llm-stub\\.ts$' },
      to: { path: '^src/|^libs/(simulation|outbound-http)/' },
    },
    {
      name: 'protocols-are-met-at-their-doors',
      comment: 'A platform is one folder: everything else knows its index.ts, by the registry.',
      severity: 'error',
      from: { path: '^(src|libs)/', pathNot: '^libs/simulation/transports/(wires|text)/|\\.spec\\.ts$|/testing/' },
      to: {
        path: '^libs/simulation/transports/(wires|text)/[^/]+/',
        pathNot: '^libs/simulation/transports/(wires|text)/[^/]+/index\\.ts$',
      },
    },
    {
      name: 'production-does-not-import-tests',
      comment: 'The service must run without its tests and their libraries.',
      severity: 'error',
      from: { path: '^(src|libs|ormconfig)', pathNot: '\\.spec\\.ts$|/testing/' },
      to: {
        path: '^test/|/testing/|node_modules/(jest|fast-check|supertest|ajv-formats|playwright-core|@nestjs/testing)/',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
