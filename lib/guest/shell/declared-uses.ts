/**
 * Whether the script that runs may tell the time and give random numbers: one of a component may if it declares so.
 * Asked by commands, by devices and by just-bash's interpreter as it is patched. A process runs one script at a time.
 */
import type { Run, ScriptUse } from '../../workers/protocol/call.ts';

let current: Pick<Run, 'refuses'> | null = null;

/** A script begins, or none runs. */
export function setScript(run: Pick<Run, 'refuses'> | null): void {
  current = run;
}

/** Whether the script that runs did not declare this use. Then it ends before its next command. */
export function refuses(use: ScriptUse): boolean {
  return current?.refuses(use) === true;
}

/** Ends a command of a component that does not declare this use. */
export function requireUse(call: { end(message: string): never }, use: ScriptUse): void {
  if (refuses(use)) call.end(`this component does not declare it: add ":uses ${use}" to its header`);
}
