/** The browser tests' libraries, as the packages of this folder have them. */
import { fileURLToPath } from 'node:url';

export * from '@playwright/test';
export type { default as axe } from 'axe-core';

/** The script that makes `axe` in a page. */
export const AXE_PATH = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
