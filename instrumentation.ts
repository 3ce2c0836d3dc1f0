/**
 * Called by Next once per process, before its first request: starts the engine when nobody has, so that `next start`
 * alone serves everything.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') {
    const { startEngine } = await import('./instrumentation-node.ts');
    await startEngine();
  }
}
