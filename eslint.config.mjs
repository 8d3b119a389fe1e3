import prettier from 'eslint-config-prettier';
import jest from 'eslint-plugin-jest';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'data/', 'coverage/', 'node_modules/', 'libs/client/api.d.ts'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', '*.cjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
      'no-console': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['test/**', '**/*.spec.ts', 'libs/**/testing/**'],
    plugins: { jest },
    rules: {
      'jest/expect-expect': [
        'error',
        { assertFunctionNames: ['expect', 'expect*', 'check*', '**.expect*', 'fc.assert'] },
      ],
      'jest/no-focused-tests': 'error',
      'jest/no-disabled-tests': 'off',
      'jest/valid-expect': ['error', { maxArgs: 2 }],
      'no-console': 'off',
      // Answers of the service are read as a client reads them, without types.
      '@typescript-eslint/no-explicit-any': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    // SQL has one home; see docs/decisions/0002.
    files: ['src/modules/**', 'src/platform/encryption/**'],
    ignores: ['**/*.repository.ts', '**/*.sql.ts', '**/*.entity.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'TemplateElement[value.raw=/^\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|LOCK TABLE) /]',
          'Literal[value=/^\\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|LOCK TABLE) /]',
        ].map((selector) => ({ selector, message: 'SQL belongs in a repository (*.repository.ts, *.sql.ts).' })),
        {
          selector: 'CallExpression[callee.property.name="createQueryBuilder"]',
          message: 'Write SQL in a repository, or use the EntityManager.',
        },
      ],
    },
  },
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
  // Programs for developers: what they print is what they are for.
  { files: ['scripts/**'], rules: { 'no-console': 'off' } },
  prettier,
);
