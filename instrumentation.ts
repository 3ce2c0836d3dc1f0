/**
 * Called by Next once per process, before the first request. Starts the engine unless it runs already, so that a plain
 * `next start` serves the API too.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startEngine } = await import('./instrumentation-node.ts');
    await startEngine();
  }
}
