/** Loads the rest of `fetch` when one of its names is first used: see javascript-fetch-prelude.ts. */
(load) => {
  'use strict';
  for (const name of ['fetch', 'Headers', 'Request', 'Response', 'AbortController', 'AbortSignal']) {
    const set = (value) => Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
    Object.defineProperty(globalThis, name, {
      configurable: true,
      set,
      get: () => {
        load();
        return globalThis[name];
      },
    });
  }
};
