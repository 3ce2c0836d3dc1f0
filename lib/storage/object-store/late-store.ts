/**
 * A store that is opened when it is first needed, and again as long as that fails: a folder whose disk is not mounted
 * yet, at the start of a server.
 */
import type { ObjectStore } from './object-store.ts';

export interface LateStore extends ObjectStore {
  /** Closes what was opened: the next request opens it anew. For a folder that has another disk by now. */
  reopen(): Promise<void>;
}

/** A store of `url` that `open` opens. Every method throws what that throws; the next one tries again. */
export function lateStore(url: string, open: () => Promise<ObjectStore>): LateStore {
  let opened: Promise<ObjectStore> | null = null;
  const store = (): Promise<ObjectStore> => {
    opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    url,
    put: async (...given) => (await store()).put(...given),
    get: async (...given) => (await store()).get(...given),
    open: async (...given) => (await store()).open(...given),
    upload: async (...given) => (await store()).upload(...given),
    download: async (...given) => (await store()).download(...given),
    head: async (...given) => (await store()).head(...given),
    async *list(...given) {
      yield* (await store()).list(...given);
    },
    remove: async (...given) => (await store()).remove(...given),
    purge: async (...given) => (await store()).purge(...given),
    copy: async (...given) => (await store()).copy(...given),
    traits: async (...given) => (await store()).traits(...given),
    async reopen() {
      const former = opened;
      opened = null;
      await (await former?.catch(() => null))?.close();
    },
    close: async () => (await opened?.catch(() => null))?.close(),
  };
}
