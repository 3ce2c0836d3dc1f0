/** The browser tests' library, as the packages of this folder have it. */
export { AxeBuilder } from '@axe-core/playwright';
export * from '@playwright/test';
