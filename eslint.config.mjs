import js from '@eslint/js';
import tseslint from 'typescript-eslint';

const sizes = {
  'max-lines-per-function': ['error', { max: 40, skipBlankLines: true, skipComments: true }],
  'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
  'max-params': ['error', 4],
  // Prettier wraps code, but not comments.
  'max-len': ['error', { code: 1000, comments: 100, ignoreUrls: true }],
};

export default tseslint.config(
  {
    ignores: ['**/dist/**', 'node_modules/**', '.services/**', '.ranklog/**', 'coverage/**'],
  },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      ...sizes,
      eqeqeq: 'error',
      'no-console': 'error',
      '@typescript-eslint/no-extraneous-class': [
        'error',
        { allowWithDecorator: true, allowEmpty: true },
      ],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_$' }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // The classes of the contracts are shapes: plain objects of the same fields are as good.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    files: ['**/*.spec.ts', 'test/**', 'bench/**'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 500, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  {
    files: ['bench/**', 'scripts/**', 'examples/**'],
    // The types of JSDoc are not those of an assertion: what import() and JSON.parse return stays
    // any.
    rules: { 'no-console': 'off', '@typescript-eslint/no-unsafe-assignment': 'off' },
  },
  // tsc knows which names exist.
  { files: ['**/*.mjs', '**/*.cjs'], rules: { 'no-undef': 'off' } },
  { files: ['*.mjs', '*.cjs'], extends: [tseslint.configs.disableTypeChecked] },
);
