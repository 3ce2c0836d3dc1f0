/**
 * Where the next Python that starts prints while it runs. just-bash makes its side of a Python inside its own command,
 * which takes what is given here (bash-command-patches.ts); nothing waits between the two.
 */

/** Takes what Python printed, as python-output.ts encodes it. False: it is collected for the end of the command. */
export type LiveOutput = (stream: 'stdout' | 'stderr', text: string) => boolean;

let given: LiveOutput | null = null;

/** Gives the next Python its output; null takes it back. */
export function giveLiveOutput(output: LiveOutput | null): void {
  given = output;
}

/** Takes what was given; null for nothing. */
export function takeLiveOutput(): LiveOutput | null {
  const taken = given;
  given = null;
  return taken;
}
