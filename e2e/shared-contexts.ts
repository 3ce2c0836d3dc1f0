/**
 * Browser contexts that the tests of one worker share, one after another. A new context of a browser compiles and
 * fetches every script of the console again, which was a sixth of what the browser tests cost. Each test finds a
 * context without cookies, storage, permissions, routes or pages. Knows nothing of the console.
 */
import type { Browser, BrowserContext, CDPSession } from '#peers/playwright.ts';

/** Events whose listeners a test may have added to its context. */
const EVENTS = ['page', 'request', 'response', 'requestfinished', 'requestfailed', 'console', 'download'] as const;

interface Shared {
  context: BrowserContext;
  /** Empties the origin's storage. Of a page that stays: with it the process of the origin stays too. */
  session: CDPSession;
}

export interface SharedContexts {
  /** The context for these options. It has one page already, which is not the test's. */
  take(options: unknown): Promise<BrowserContext>;
  /** Empties a context that a test is done with. */
  giveBack(context: BrowserContext): Promise<void>;
}

/** `still`: address of a page without scripts on the origin that the tests visit. */
export function createSharedContexts(browser: Browser, still: string): SharedContexts {
  const shared = new Map<string, Shared>();
  const { origin } = new URL(still);
  return {
    async take(options) {
      const key = JSON.stringify(options);
      const known = shared.get(key);
      if (known !== undefined) return known.context;
      // The options of the test that asks are the defaults of every new context.
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(still);
      shared.set(key, { context, session: await context.newCDPSession(page) });
      return context;
    },
    async giveBack(context) {
      const known = [...shared.values()].find((one) => one.context === context);
      for (const event of EVENTS) context.removeAllListeners(event);
      const [, ...pages] = context.pages();
      for (const page of pages) await page.close();
      await context.unrouteAll();
      await context.clearPermissions();
      await context.clearCookies();
      const storageTypes = 'local_storage,indexeddb,file_systems,service_workers,cache_storage';
      await known?.session.send('Storage.clearDataForOrigin', { origin, storageTypes });
    },
  };
}
