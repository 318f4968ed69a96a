// SPDX-License-Identifier: GPL-2.0-or-later
// Run eslint in the parent folder, so that it also checks the browser tests in tests/web.
import { fileURLToPath } from 'node:url';
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

function globals(names) {
  return Object.fromEntries(names.split(' ').map((name) => [name, 'readonly']));
}

const kNode = globals('console process setTimeout URL');
// Code that runs in the page under test.
const kBrowser = globals(
  'CanvasRenderingContext2D CSS devicePixelRatio document DOMPoint Event getComputedStyle location KeyboardEvent ' +
    'MutationObserver NodeFilter performance requestAnimationFrame window',
);

export default tseslint.config(
  { ignores: ['**/out/', '**/node_modules/'] },
  {
    files: ['**/*.mjs'],
    extends: [js.configs.recommended],
    languageOptions: { globals: kNode },
    rules: { eqeqeq: 'error' },
  },
  { files: ['tests/web/*.mjs'], languageOptions: { globals: kBrowser } },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: fileURLToPath(new URL('.', import.meta.url)) },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/dot-notation': 'off',
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: 'test' }] },
      ],
      // These properties are forbidden, because text from a trace must never become HTML.
      'no-restricted-properties': [
        'error',
        ...['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'write'].map((property) => ({ property })),
      ],
      'no-eval': 'error',
      eqeqeq: 'error',
    },
  },
);
