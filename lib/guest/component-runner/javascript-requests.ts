/** The requests of a JavaScript component while it runs. Knows nothing of what they ask for. */
import type { QuickJSRuntime } from 'quickjs-emscripten';
import { monotonicMs } from '../../workers/protocol/monotonic.ts';
import type { JavaScriptFetch } from '../javascript/javascript-fetch.ts';
import type { ComponentRun } from './interpreter.ts';

/** Delivers the answers of the guest's requests until none is under way, or the call is over. */
export async function settleRequests(
  { network, runtime }: { network: JavaScriptFetch | null; runtime: QuickJSRuntime },
  { deadline, signal }: ComponentRun,
): Promise<void> {
  if (network === null) return;
  const over = Promise.withResolvers<void>();
  const end = () => over.resolve();
  const timer = setTimeout(end, Math.max(0, deadline - monotonicMs()));
  signal.addEventListener('abort', end, { once: true });
  try {
    for (;;) {
      const jobs = runtime.executePendingJobs();
      const failed = jobs.error !== undefined;
      jobs.dispose();
      if (failed || !network.isBusy || signal.aborted || monotonicMs() >= deadline) return;
      await Promise.race([network.answered(), over.promise]);
      network.deliver();
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}
