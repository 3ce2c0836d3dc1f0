/**
 * The registry, each of whose methods is timed: how long it took until it answered or failed. Knows nothing of metrics.
 */
import type { Registry } from './registry.ts';
import { type StoreName, WRITE_RULES } from './write-rules.ts';

type Method = (...args: unknown[]) => Promise<unknown>;

/** `method`: the store and its method, as `instances.commit`. */
type Observe = (method: string, seconds: number) => void;

/** The registry as it is, whose methods are told to `observe` when they have ended. */
export function timedRegistry<R extends Registry>(registry: R, observe: Observe): R {
  const stores = (Object.keys(WRITE_RULES) as StoreName[]).map((name) => [
    name,
    timedStore(name, registry[name], observe),
  ]);
  // Each write that carries an id asks for one: only the store that it uses is made.
  const carrying = (writeId: string) =>
    new Proxy(registry.carrying(writeId), {
      get(of, name: keyof Registry) {
        return isStore(name) ? timedStore(name, of[name], observe) : of[name];
      },
    });
  return { ...registry, ...Object.fromEntries(stores), carrying };
}

const isStore = (name: string): name is StoreName => name in WRITE_RULES;

function timedStore(name: StoreName, store: object, observe: Observe): object {
  const methods = Object.keys(WRITE_RULES[name]).map((method) => {
    const call = (store as Record<string, Method>)[method] as Method;
    const label = `${name}.${method}`;
    const timed: Method = async (...args) => {
      const begun = performance.now();
      try {
        return await call.apply(store, args);
      } finally {
        observe(label, (performance.now() - begun) / 1000);
      }
    };
    return [method, timed];
  });
  return Object.fromEntries(methods);
}
