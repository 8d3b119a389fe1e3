/** Rings of folders of production code. Specs and fixtures are left out: they may test a folder through the index. */
module.exports = {
  forbidden: [
    {
      name: 'no-rings-of-folders',
      comment: 'Two folders that need each other cannot be understood or moved separately.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$|/testing/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
