/** The boundaries of docs/architecture.md; each rule says why it is one. */
module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file in two places, and Nest would need forwardRef for them.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-rings-of-folders',
      comment: 'Two folders that need each other cannot be understood or moved separately.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'libs-stand-alone',
      comment: 'A library must be usable and testable without the service, so it imports nothing of it.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(src|test|bench|ormconfig)' },
    },
    {
      name: 'libs-without-framework',
      comment: 'The libraries outlive the choice of framework and ORM.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: 'node_modules/(@nestjs|typeorm)/' },
    },
    {
      name: 'libs-meet-at-their-index',
      comment:
        'A library must be free to change its inner files: another library imports what index.ts exports, and nothing else.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/' },
      to: { path: '^libs/', pathNot: ['^libs/$1/', '^libs/[^/]+/index\\.ts$', '^libs/[^/]+/testing/'] },
    },
    {
      name: 'libs-are-used-by-their-index',
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
      name: 'platform-knows-no-module',
      comment: 'Every module stands on the platform; the other way round it could not be understood by itself.',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^src/(modules|admin|bootstrap|cluster)/|^src/[^/]+\\.ts$' },
    },
    {
      name: 'modules-meet-at-their-services',
      comment:
        "A module's tables and repository are its own: another one reaches it through its service or module file.",
      severity: 'error',
      from: { path: '^src/modules/([^/]+)/' },
      to: { path: '^src/modules/', pathNot: ['^src/modules/$1/', '\\.(service|module)\\.ts$'] },
    },
    {
      name: 'services-know-no-http',
      comment: 'What a service does must be doable from a job or the command line as well.',
      severity: 'error',
      from: { path: '^src/modules/.*\\.(service|repository|entity)\\.ts$' },
      to: {
        path: '(^|node_modules/)(@nestjs/(platform-express|swagger)|express)/|^src/platform/(http|openapi|throttling)/',
      },
    },
    {
      name: 'only-the-top-puts-together',
      comment: 'The entry points assemble the service; nothing else may reach up to them.',
      severity: 'error',
      from: { path: '^src/(modules|platform)/' },
      to: { path: '^src/(main|app\\.setup|app\\.module|bootstrap/|cluster/|admin/)' },
    },
    {
      name: 'ormconfig-is-for-the-command-line',
      comment: "ormconfig.ts only serves TypeORM's command line: the service creates its data source in src/bootstrap.",
      severity: 'error',
      from: { path: '^(src|libs)/' },
      to: { path: '^ormconfig' },
    },
    {
      name: 'tests-stay-out',
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
