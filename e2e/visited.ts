/**
 * The server that the tests visit, and the pages they visit it with: any complaint in a browser's console fails a test.
 */
import { test as base, expect, type Page } from '#peers/playwright.ts';
import { type Call, caller } from '../lib/testing/call.ts';
import { TEST_KEY } from '../lib/testing/server.ts';

export { expect } from '#peers/playwright.ts';

/** Carries the server's address from the setup to the tests. */
export const SERVER_VARIABLE = 'WB_TEST_SERVER';

export interface Visited {
  url: string;
  /** Its data folder. */
  folder: string;
  /** Path of the printed sign-in link, which works once. */
  link: string;
  call: Call;
}

/** The server that the setup started. */
export function visited(): Visited {
  const { url, folder, link } = JSON.parse(process.env[SERVER_VARIABLE] ?? '{}');
  return { url, folder, link, call: caller(url, TEST_KEY) };
}

/** What a browser's console may say in one test, besides nothing. */
interface Complaints {
  expected: RegExp[];
}

/** Tests whose pages come from the server, with a console that has to stay silent. */
export const test = base.extend<{ complaints: Complaints }>({
  baseURL: async ({ baseURL: _ }, use) => use(visited().url),
  complaints: [
    async ({ context }, use) => {
      const errors: string[] = [];
      const complaints: Complaints = { expected: [] };
      const listen = (page: Page) => {
        page.on('console', (message) => {
          if (message.type() === 'error') errors.push(`${page.url()}: ${message.text()} (${message.location().url})`);
        });
        page.on('pageerror', (error) => errors.push(`${page.url()}: ${error.stack ?? error.message}`));
      };
      context.on('page', listen);
      await use(complaints);
      expect(errors.filter((line) => !complaints.expected.some((pattern) => pattern.test(line)))).toEqual([]);
    },
    { auto: true },
  ],
});

/** Signs in by the admin key, through the form. */
export async function signInByKey(page: Page): Promise<void> {
  await page.goto('/signin');
  await page.getByLabel('Admin key').fill(TEST_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await expect(page.getByRole('banner')).toBeVisible();
}
